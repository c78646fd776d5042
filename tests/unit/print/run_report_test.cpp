#include "print/run_report.hpp"

#include <gmock/gmock.h>

#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "model/statistics.hpp"
#include "print/document/document.hpp"
#include "unit/print/report_samples.hpp"

namespace fatune {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    lines.push_back(line);
  }
  return lines;
}

std::string table(const RunReport& report, std::size_t top = 10) {
  return render(run_document(report, top), OutputFormat::table);
}

TEST(Table, SaysFirstAndLastThatNothingWasMeasured) {
  const auto lines = lines_of(table(sample_report(false)));
  EXPECT_THAT(lines.front(), StartsWith("NOT MEASURED"));
  EXPECT_THAT(lines.back(), StartsWith("NOT MEASURED"));
  EXPECT_THAT(table(sample_report(false)), HasSubstr("measured: false"));
}

TEST(Table, AMeasuredOneSaysHow) {
  RunReport report = sample_report(true);
  report.gpus = 1;
  report.wall_s = 10.0;
  report.busy_s = 8.0;
  report.policy.strategy = Strategy::exhaustive;
  report.policy.warmup = 10;
  const std::string text = table(report);
  EXPECT_THAT(text, Not(HasSubstr("NOT MEASURED")));
  EXPECT_THAT(text, HasSubstr("measured: true; 10 warm-ups, 64 samples each, L2 flushed, gate on"));
  EXPECT_THAT(text, HasSubstr("10.0 s; the GPU was measuring or verifying 80 % of it"));
}

TEST(Table, TimesOfAFileSayWhichAndNotHowTheyWereMeasured) {
  RunReport report = sample_report(true);
  report.imported_from = "cache.json";
  report.toolchain.nvrtc_version.clear();
  EXPECT_THAT(table(report), HasSubstr("measured: true; times of cache.json\n"));
  EXPECT_THAT(table(report), Not(HasSubstr("ranked by the median")));
  EXPECT_THAT(table(report), Not(HasSubstr("NVRTC")));
  const json run = json::parse(render(run_document(report, 0), OutputFormat::json));
  EXPECT_EQ(run["imported_from"], "cache.json");
}

TEST(Table, ARaceSaysHowItWent) {
  const std::string text = table(sample_race());
  EXPECT_THAT(text, HasSubstr("measured: true; race to +-0.5 %, budget 60 s, L2 flushed"));
  EXPECT_THAT(text, HasSubstr("2 GPUs were measuring or verifying 85 % of it"));
  EXPECT_THAT(text, HasSubstr("87 samples in 3 + 16 rounds, 4.5 s: target reached; 2 retaken, "
                              "drift -1.2 %"));
  EXPECT_THAT(text, HasSubstr("1905 MHz (1200 to 1980), 412 W, 61 C, sw_power_cap"));
  EXPECT_THAT(text, HasSubstr("warning: something odd"));
}

TEST(Table, AnAuditSaysWhatTheRulesSavedAndCost) {
  const std::string text = table(sample_race());
  EXPECT_THAT(text, HasSubstr("2 pruned ones tried for the audit:"));
  EXPECT_THAT(text, HasSubstr("rule a: 1 of 20 tried; saved 5.0 s of compiling and 0.2 s of "
                              "samples; COST 25.0 %: (FP16, 21): fast|odd is faster"));
  EXPECT_THAT(text, HasSubstr("cost nothing: the best of them is 20.0 % behind"));
  EXPECT_THAT(text, HasSubstr("rule c: none of its 4 was tried"));
  EXPECT_THAT(table(sample_report(true)), Not(HasSubstr("audit")));
}

TEST(Table, AnEstimateSaysWhatWasVerifiedAndWhatWasNot) {
  const std::string text = render(run_document(sample_report(false), 10), OutputFormat::table);
  EXPECT_THAT(text, HasSubstr("1 of 2 verified: emulated on a small problem"));
  EXPECT_THAT(text, HasSubstr("1 NOT VERIFIED, among them (FP16, 2): fast|odd: PTX line 7"));
  EXPECT_THAT(render(run_document(sample_report(true), 10), OutputFormat::table),
              Not(HasSubstr("erified")));
}

TEST(Table, TheResultComesFirst) {
  const std::string text = table(sample_race());
  EXPECT_THAT(text,
              StartsWith("fastest of 2 on b16 s512 h16 d128 FP16: (FP16, 1): fast|odd, 100.0"));
  EXPECT_LT(text.find("Test GPU (sm_90a"), text.find("rank  tie"));
  EXPECT_LT(text.find("rank  tie"), text.find("not in the rankings: 8 failed, 0 dropped"));
}

TEST(Table, ListsFailuresWithTheirReasons) {
  const std::string text = table(sample_report(true));
  EXPECT_THAT(text, HasSubstr("wrong_result    0.5 is more than 0.002"));
  EXPECT_THAT(text, HasSubstr("invalid         rows: too few rows"));
}

TEST(Table, TopCutsTheRankingAndSaysSo) {
  EXPECT_THAT(table(sample_report(true), 1), HasSubstr("... and 1 more"));
  EXPECT_THAT(table(sample_report(true), 0), Not(HasSubstr("more (")));
}

TEST(Table, AnIncompleteReportSaysSo) {
  RunReport report = sample_report(true);
  report.complete = false;
  const auto lines = lines_of(table(report));
  EXPECT_THAT(lines.front(), StartsWith("INCOMPLETE"));
  EXPECT_THAT(lines.back(), StartsWith("INCOMPLETE"));
}

TEST(Table, ColourOnlyWhenAskedFor) {
  EXPECT_THAT(table(sample_report(false)), Not(HasSubstr("\x1b")));
  EXPECT_THAT(render(run_document(sample_report(false), 10), {OutputFormat::table, 0, true}),
              HasSubstr("\x1b["));
}

TEST(Markdown, IsATableWithEscapedBars) {
  const std::string text = render(run_document(sample_report(true)), OutputFormat::markdown);
  EXPECT_THAT(text, HasSubstr("| (FP16, 2): fast\\|odd |"));
  EXPECT_THAT(render(run_document(sample_report(true), 1), OutputFormat::markdown),
              AllOf(Not(HasSubstr("(FP16, 2)")), HasSubstr("\n\n... and 1 more (")));
}

/// A report in which only the first ranked result has hardware counters.
RunReport counted_report() {
  RunReport report = sample_report(true);
  std::get<Measured>(report.problems[0].ranking[0].outcome).counters = {
      {"duration_us", 99.75}, {"elapsed_cycles", 190123.0}};
  return report;
}

TEST(Table, HardwareCountersStandInATableOfTheirOwn) {
  EXPECT_THAT(table(sample_report(true)), Not(HasSubstr("hardware counters")));
  const auto lines = lines_of(table(counted_report()));
  const auto title = std::find(lines.begin(), lines.end(), "hardware counters:");
  ASSERT_GE(lines.end() - title, 3);
  EXPECT_THAT(title[1], testing::MatchesRegex("rank  config +us  cycles"));
  EXPECT_THAT(title[2], testing::MatchesRegex(" +1  .* 99.75  190123"));
}

TEST(ResultsJson, HardwareCountersAreThereWhereTheyWereRead) {
  const json ranking = json::parse(results_json(counted_report()))["problems"][0]["ranking"];
  EXPECT_EQ(ranking[0]["counters"],
            json::parse(R"({"duration_us": 99.75, "elapsed_cycles": 190123.0})"));
  EXPECT_TRUE(ranking[1]["counters"].empty());
}

TEST(Csv, HardwareCountersAreColumnsWhenThereAreSome) {
  EXPECT_THAT(results_csv(sample_report(true)), Not(HasSubstr("duration_us")));
  EXPECT_THAT(results_csv(counted_report()), HasSubstr("duration_us,elapsed_cycles\r\n"));
}

TEST(ResultsJson, HasTheThreeThroughputConventions) {
  const json result = json::parse(results_json(sample_report(true)))["problems"][0]["ranking"][0];
  const double s2 = 512.0 * 512.0;
  EXPECT_DOUBLE_EQ(result["literature_tflops"], 256 * 4 * s2 * 128 / 100.0 * 1e-6);
  EXPECT_DOUBLE_EQ(result["attention_tflops"], 256 * (4 * s2 * 128 + 6 * s2) / 100.0 * 1e-6);
  EXPECT_DOUBLE_EQ(result["total_tflops"], 2e9 / 100.0 * 1e-6);
}

TEST(ResultsJson, HoldsSamplesVerificationAndLogs) {
  const json problem = json::parse(results_json(sample_report(true)))["problems"][0];
  EXPECT_EQ(problem["ranking"][0]["samples_us"], json({100.0, 101.0, 99.0}));
  EXPECT_EQ(problem["ranking"][0]["verification"]["inputs"][0]["limit"], 0.002);
  EXPECT_EQ(problem["ranking"][0]["parameters"],
            json({{"dtype", "FP16"}, {"ROWS", 1}, {"fast", true}}));
  EXPECT_THAT(std::string(problem["failures"][0]["log"]), HasSubstr("second line"));
}

TEST(ResultsJson, HoldsHowARaceWent) {
  const json report = json::parse(results_json(sample_race()));
  EXPECT_EQ(report["gpus_used"], 2);
  EXPECT_DOUBLE_EQ(report["gpu_busy_percent"], 85.0);
  EXPECT_EQ(report["policy"]["strategy"], "race");
  EXPECT_EQ(report["policy"]["budget_s"], 60.0);
  const json& problem = report["problems"][0];
  EXPECT_EQ(problem["device_uuid"], "GPU-1");
  EXPECT_EQ(problem["measuring"]["final_rounds"], 16);
  EXPECT_EQ(problem["measuring"]["samples_retaken"], 2);
  EXPECT_EQ(problem["measuring"]["sentinel"], "(FP16, 1): fast|odd");
  EXPECT_EQ(problem["conditions"]["power_w_max"], 700.0);
  EXPECT_EQ(problem["conditions"]["throttle_reasons"], json({"sw_power_cap"}));
  EXPECT_EQ(problem["ranking"][1]["same_code_as"], "(FP16, 1): fast|odd");
  EXPECT_TRUE(problem["ranking"][0]["same_code_as"].is_null());
}

/// A report whose first time is a median that another program measured, and whose second is of one
/// sample.
RunReport report_of_few_samples() {
  RunReport report = sample_report(true);
  std::vector<Result>& ranking = report.problems[0].ranking;
  std::get<Measured>(ranking[0].outcome).timing = timing_of_median(100.0);
  std::get<Measured>(ranking[1].outcome).timing = summarise({200.0}, 0.95);
  return report;
}

TEST(ResultsJson, FiguresThatAreNotKnownAreNull) {
  const json ranking = json::parse(results_json(report_of_few_samples()))["problems"][0]["ranking"];
  for (const char* figure :
       {"samples", "min_us", "max_us", "mean_us", "stddev_us", "median_low_us", "median_high_us"}) {
    EXPECT_TRUE(ranking[0][figure].is_null()) << figure;
  }
  EXPECT_EQ(ranking[0]["time_us"], 100.0);
  EXPECT_EQ(ranking[1]["samples"], 1);
  EXPECT_EQ(ranking[1]["min_us"], 200.0);
  EXPECT_TRUE(ranking[1]["stddev_us"].is_null());
}

TEST(Table, FiguresThatAreNotKnownAreNotNumbers) {
  const auto lines = lines_of(table(report_of_few_samples()));
  const auto title =
      std::ranges::find_if(lines, [](const std::string& line) { return line.starts_with("rank"); });
  EXPECT_THAT(*title, testing::MatchesRegex("rank +tie +config +us +min +n .*"))
      << "without a column for deviations: none is known";
  EXPECT_THAT(title[1], testing::ContainsRegex(" 100.0 +- +-  "));
  EXPECT_THAT(title[2], testing::ContainsRegex(" 200.0 +200.0 +1  "));
}

TEST(Table, CountsStaticSharedMemory) {
  RunReport report = sample_report(true);
  Result& first = report.problems[0].ranking.front();
  first.facts->static_smem_bytes = 1024;
  first.dynamic_smem_bytes = 0;
  const json result = json::parse(results_json(report))["problems"][0]["ranking"][0];
  EXPECT_EQ(result["smem_bytes"], 1024);
  EXPECT_EQ(result["static_smem_bytes"], 1024);
  EXPECT_EQ(result["dynamic_smem_bytes"], 0);
  EXPECT_THAT(table(report), testing::ContainsRegex("smem  blk/SM\n.* 1024 +3\n.* 32768 +3\n"));
}

TEST(Table, TheTimeStandsBeforeTheConfigurationWithTheSameCode) {
  const auto lines = lines_of(table(sample_race()));
  const auto title =
      std::ranges::find_if(lines, [](const std::string& line) { return line.starts_with("rank"); });
  EXPECT_THAT(*title, testing::ContainsRegex("rank +tie +config +us .* same code as$"));
}

// Without the management library, the clock is still known from long samples.
TEST(ResultsJson, WhatIsNotKnownOfTheGpuIsNull) {
  RunReport report = sample_race();
  GpuConditions& conditions = *report.problems[0].conditions;
  conditions.power_w_median = conditions.power_w_max = conditions.temperature_c_max = 0.0;
  conditions.timeline = {{1980.0, 0.0, 0.0, 0}};
  const json written = json::parse(results_json(report))["problems"][0]["conditions"];
  EXPECT_EQ(written["sm_mhz_median"], 1905.0);
  EXPECT_TRUE(written["power_w_median"].is_null());
  EXPECT_TRUE(written["temperature_c_max"].is_null());
  EXPECT_EQ(written["timeline"][0], json({{"sm_mhz", 1980.0},
                                          {"power_w", nullptr},
                                          {"temperature_c", nullptr},
                                          {"clock_limits", 0}}));
  EXPECT_THAT(table(report), HasSubstr("1905 MHz (1200 to 1980), sw_power_cap"));
}

TEST(ResultsJson, HoldsTheAudit) {
  const json problem = json::parse(results_json(sample_race()))["problems"][0];
  EXPECT_EQ(problem["audited"].size(), 2U);
  EXPECT_EQ(problem["audited"][0]["pruned_by"], "a");
  EXPECT_EQ(problem["audit"][0]["gain_percent"], 25.0);
  EXPECT_EQ(problem["audit"][1]["best_config"], "(FP16, 22): fast|odd");
  EXPECT_TRUE(problem["audit"][2]["best_config"].is_null());
  EXPECT_TRUE(problem["audit"][2]["gain_percent"].is_null());
}

TEST(ResultsJson, WithoutARaceSaysSo) {
  const json report = json::parse(results_json(sample_report(false)));
  EXPECT_TRUE(report["gpu_busy_percent"].is_null());
  EXPECT_TRUE(report["problems"][0]["measuring"].is_null());
  EXPECT_TRUE(report["problems"][0]["conditions"].is_null());
  EXPECT_TRUE(report["problems"][0]["device_uuid"].is_null());
  EXPECT_TRUE(report["problems"][0]["audit"].empty());
}

TEST(ResultsJson, NotFiniteBecomesText) {
  RunReport report = sample_report(true);
  auto& timing = std::get<Measured>(report.problems[0].ranking[0].outcome).timing;
  timing.median_us = std::numeric_limits<double>::quiet_NaN();
  timing.samples_us.assign(1, std::numeric_limits<double>::infinity());
  const json result = json::parse(results_json(report))["problems"][0]["ranking"][0];
  EXPECT_EQ(result["time_us"], "nan");
  EXPECT_EQ(result["samples_us"][0], "inf");
  EXPECT_TRUE(result["literature_tflops"].is_null());
}

TEST(ResultsCsv, HasOneRowPerResultAndAColumnPerParameter) {
  const auto lines = lines_of(results_csv(sample_report(true)));
  ASSERT_EQ(lines.size(), 1U + 2 + 8);
  EXPECT_THAT(lines[0],
              StartsWith("dtype,batch,seq_len,heads,d_head,causal,seq_len_kv,kv_heads,"
                         "d_head_v,window,softmax_scale,lse,layout,seq_lens_kv,softcap,sinks,"
                         "page_size,seq_lens,latent,kv_dtype,kv_scales,run,"));
  EXPECT_THAT(lines[0], HasSubstr(",ROWS,fast"));
  EXPECT_EQ(lines[0].find(",dtype,"), std::string::npos) << "dtype stands twice";
  EXPECT_THAT(lines[1],
              HasSubstr("\"(FP16, 1): fast|odd\",toy,measured,true,gpu,true,false,,,,100,"));
}

// Parameters and counters come after the fixed columns.
TEST(ResultsCsv, SaysOfEveryRowWhichDeviceItIsOf) {
  const RunReport report = sample_report(true);
  const auto lines = lines_of(results_csv(report));
  EXPECT_THAT(lines[0], HasSubstr(",device,ROWS,fast"));
  for (std::size_t i = 1; i < lines.size(); ++i) {
    EXPECT_THAT(lines[i], HasSubstr("," + report.device.name + ",")) << i;
  }
}

TEST(ResultsOfSeveralModels, AreOneDocument) {
  RunReport other = sample_report(true);
  other.device.name = "Other GPU";
  const std::vector<RunReport> both{sample_report(true), other};
  const auto lines = lines_of(render(runs_document(both), OutputFormat::csv));
  EXPECT_EQ(lines.size(), 1U + 2 * (2 + 8)) << "one heading";
  EXPECT_THAT(lines.back(), HasSubstr(",Other GPU,"));
  const json runs = json::parse(render(runs_document(both), OutputFormat::json))["runs"];
  ASSERT_EQ(runs.size(), 2U);
  EXPECT_EQ(runs[0], json::parse(results_json(both[0]))) << "as alone";
  EXPECT_EQ(runs[1]["device"]["name"], "Other GPU");
}

TEST(ResultsCsv, HasTheAuditedOnesToo) {
  const auto lines = lines_of(results_csv(sample_race()));
  ASSERT_EQ(lines.size(), 1U + 2 + 8 + 2);
  EXPECT_THAT(lines.back(),
              HasSubstr("\"(FP16, 22): fast|odd\",toy,measured,true,gpu,true,false,b,,,125,"));
}

TEST(ResultsCsv, WithoutResultsIsJustTheHeading) {
  RunReport report = sample_report(true);
  report.problems.clear();
  EXPECT_EQ(lines_of(results_csv(report)).size(), 1U);
}

TEST(BestConfigs, HoldsTheWinnerAndItsRunnersUp) {
  const json best = json::parse(best_configs_json(sample_report(true)));
  const json& choice = best["problems"][0];
  EXPECT_EQ(choice["ranking"][0]["config"], "(FP16, 1): fast|odd");
  EXPECT_EQ(choice["ranking"][1]["config"], "(FP16, 2): fast|odd");
  EXPECT_EQ(choice["more_failed"], 8);
  EXPECT_TRUE(choice["ranking"][0]["samples_us"].is_null());
  EXPECT_TRUE(best["measured"]);
}

}  // namespace
}  // namespace fatune
