#include "results/results_file.hpp"

#include <gmock/gmock.h>

#include <fstream>
#include <sstream>

#include "core/statistics.hpp"
#include "core/text_parts.hpp"
#include "emit/results_json.hpp"
#include "emit/run_report.hpp"
#include "unit/data/temp_folder.hpp"
#include "unit/emit/report_samples.hpp"

namespace fatune {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

/// Removes what reading leaves out: verified inputs, except for the figures in the results' own
/// members, and all but the first line of a compiler's log.
Json without_left_out(Json json) {
  if (json.is_object()) {
    json.erase("verification");
    json.erase("log");
  }
  if (json.is_structured()) {
    for (auto& [key, value] : json.items()) {
      value = without_left_out(value);
    }
  }
  return json;
}

/// The report as a file has it. In a file, bytes that are not UTF-8 have been replaced.
Json written(const RunReport& report) { return Json::parse(json_text(results_object(report))); }

Json read_back(const RunReport& report) {
  const auto read = read_results_text(json_text(results_object(report)), "sample");
  EXPECT_THAT(read, SizeIs(1));
  return without_left_out(results_object(read.at(0)));
}

TEST(ReadResults, GivesWhatTheFileWasWrittenFrom) {
  for (const RunReport& report : {sample_report(true), sample_report(false), sample_race()}) {
    EXPECT_EQ(read_back(report), without_left_out(written(report)));
  }
}

TEST(ReadResults, KeepsPropertiesOfTheRunThatTheSamplesLack) {
  RunReport report = sample_race();
  report.source_hashes = {{"toy", "abc"}};
  report.estimate_orders = {{"toy", "its order means nothing"}};
  report.device.uuid = "GPU-1";
  report.complete = false;
  report.toolchain.driver_release = "580.1";
  EXPECT_EQ(read_back(report), without_left_out(written(report)));
  report.imported_from = "cache.json";
  EXPECT_EQ(read_back(report), without_left_out(written(report)));
}

TEST(ReadResults, KeepsUnusualProblemsParametersInOrderAndCounters) {
  RunReport report = sample_report(true);
  ProblemReport& problem = report.problems[0];
  problem.problem.seq_len_kv = 8192;
  problem.problem.kv_heads = 4;
  problem.problem.softmax_scale = 0.125F;
  problem.problem.lse = true;
  problem.problem.layout = Layout::bhsd;
  problem.run = 2;
  Result& result = problem.ranking[0];
  result.parameters = {{"z", "1"}, {"a", "-5"}, {"m", "false"}, {"text", "a/b"}};
  std::get<Measured>(result.outcome).counters = {{"duration_us", 12.5}, {"dram_mb", 3.0}};
  const auto read = read_results_text(json_text(results_object(report)), "sample");
  const ProblemReport& back = read.at(0).problems.at(0);
  EXPECT_EQ(back.problem, problem.problem);
  EXPECT_EQ(back.run, 2);
  const auto& parameters = back.ranking.at(0).parameters;
  EXPECT_EQ(joined(parameters, " ", &NamedValue::name), "z a m text");
  EXPECT_EQ(joined(parameters, " ", &NamedValue::text), "1 -5 false a/b");
  EXPECT_EQ(read_back(report), without_left_out(written(report)));
}

TEST(ReadResults, TakesTheMedianForFiguresThatAreNotKnown) {
  RunReport report = sample_report(true);
  std::get<Measured>(report.problems[0].ranking[0].outcome).timing = timing_of_median(100.0);
  const auto read = read_results_text(json_text(results_object(report)), "sample");
  const Timing& timing = std::get<Measured>(read.at(0).problems.at(0).ranking.at(0).outcome).timing;
  EXPECT_EQ(timing.min_us, 100.0);
  EXPECT_EQ(timing.median_low_us, 100.0);
  EXPECT_EQ(timing.median_high_us, 100.0);
  EXPECT_EQ(read_back(report), without_left_out(written(report)));
}

TEST(ReadResults, KeepsTheFiguresOfTheTightestInput) {
  RunReport report = sample_report(true);
  auto& inputs = std::get<Measured>(report.problems[0].ranking[0].outcome).verification.inputs;
  inputs.push_back(inputs.front());
  inputs.back().input = "large_logits";
  inputs.back().max_abs_error = 0.0019;
  const auto read = read_results_text(json_text(results_object(report)), "sample");
  const auto& kept =
      std::get<Measured>(read.at(0).problems.at(0).ranking.at(0).outcome).verification.inputs;
  ASSERT_THAT(kept, SizeIs(1));
  EXPECT_EQ(kept[0].input, "large_logits");
  EXPECT_EQ(kept[0].max_abs_error, 0.0019);
}

TEST(ReadResults, ReadsSeveralRuns) {
  const std::vector<RunReport> reports{sample_race(), sample_report(false)};
  const auto read = read_results_text(json_text(runs_object(reports)), "sample");
  ASSERT_THAT(read, SizeIs(2));
  EXPECT_EQ(without_left_out(results_object(read[0])), read_back(reports[0]));
  EXPECT_EQ(without_left_out(results_object(read[1])), read_back(reports[1]));
}

TEST(ReadResults, TakesTheWinnersOfAFileOfThoseForTheRanking) {
  const RunReport report = sample_race();
  const auto read = read_results_text(best_configs_json(report), "sample");
  ASSERT_THAT(read, SizeIs(1));
  EXPECT_EQ(read[0].device.name, "Test GPU");
  EXPECT_EQ(read[0].command_line, report.command_line);
  ASSERT_THAT(read[0].problems, SizeIs(1));
  const auto& ranking = read[0].problems[0].ranking;
  ASSERT_THAT(ranking, SizeIs(2));
  EXPECT_EQ(ranking[0].short_form, report.problems[0].ranking[0].short_form);
  EXPECT_EQ(ranking[1].rank, 2);
  EXPECT_EQ(ranked_us(ranking[1].outcome), 200.0);
}

TEST(ReadResults, ReadsTheShippedResults) {
  const auto read = read_results(FATUNE_SOURCE_DIR "/configs/tuned/nvidia-h200.json");
  ASSERT_THAT(read, SizeIs(1));
  EXPECT_THAT(read[0].problems, SizeIs(72));
}

/// The peak memory of this process, in bytes.
std::int64_t peak_memory_bytes() {
  std::ifstream status("/proc/self/status");
  std::string line;
  while (std::getline(status, line)) {
    if (line.starts_with("VmHWM:")) {
      return std::stoll(line.substr(6)) * 1024;
    }
  }
  return 0;
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

TEST(ReadResults, HoldsLittleOfALongFileInMemory) {
  if (kSanitized) {
    GTEST_SKIP() << "sanitizers need memory of their own";
  }
  constexpr int kResults = 20000;
  Json whole = written(sample_race());
  const std::string result = whole["problems"][0]["ranking"][0].dump(2);
  whole["problems"][0]["ranking"] = {"HERE"};
  const std::string frame = whole.dump(2);
  const std::size_t here = frame.find("\"HERE\"");
  const fixtures::TempFolder folder;
  const auto path = folder.path() / "results.json";
  std::ofstream file(path);
  file << frame.substr(0, here) << result;
  for (int i = 1; i < kResults; ++i) {
    file << ",\n" << result;
  }
  file << frame.substr(here + std::string_view("\"HERE\"").size());
  file.close();
  ASSERT_GT(std::filesystem::file_size(path), 30'000'000U);

  const std::int64_t before = peak_memory_bytes();
  const auto read = read_results(path);
  EXPECT_THAT(read.at(0).problems.at(0).ranking, SizeIs(kResults));
  constexpr std::int64_t kMostBytesOfResult = 4000;  // 400 MB for 100,000
  EXPECT_LT(peak_memory_bytes() - before, kResults * kMostBytesOfResult);
}

}  // namespace
}  // namespace fatune
