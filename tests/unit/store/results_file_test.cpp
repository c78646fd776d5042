#include "store/results_file.hpp"

#include <gmock/gmock.h>

#include <fstream>
#include <limits>
#include <sstream>

#include "model/record_json.hpp"
#include "model/statistics.hpp"
#include "print/run_report.hpp"
#include "unit/base/temp_folder.hpp"
#include "unit/print/report_samples.hpp"

namespace fatune {
namespace {

using testing::SizeIs;

/// The report as a file has it. In a file, bytes that are not UTF-8 have been replaced.
Json written(const RunReport& report) { return Json::parse(json_text(results_object(report))); }

/// Expects that the report comes back from its file with all its members.
void expect_read_back(const RunReport& report) {
  const auto read = read_results_text(json_text(results_object(report)), "sample");
  ASSERT_THAT(read, SizeIs(1));
  EXPECT_EQ(record_text(record_json(read[0])), record_text(record_json(report)));
  EXPECT_EQ(written(read[0])["summary"], written(report)["summary"]);
}

TEST(ReadResults, GivesWhatTheFileWasWrittenFrom) {
  for (const RunReport& report : {sample_report(true), sample_report(false), sample_race()}) {
    expect_read_back(report);
  }
}

TEST(ReadResults, KeepsPropertiesOfTheRunThatTheSamplesLack) {
  RunReport report = sample_race();
  report.source_hashes = {{"toy", "abc"}};
  report.estimate_orders = {{"toy", "its order means nothing"}};
  report.device.uuid = "GPU-1";
  report.complete = false;
  report.toolchain.driver_release = "580.1";
  report.imported_from = "cache.json";
  report.uid = "0123";
  report.shard = Shard{{2, 3}, 8, "fleet", "abc", 12, {{4, report.problems[0].problem}}};
  expect_read_back(report);
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
  result.parameters = {{"z", "1"}, {"a", "-5"}, {"m", "false"}, {"text", "a/b"}, {"not_7", "007"}};
  std::get<Measured>(result.outcome).counters = {{"duration_us", 12.5}, {"dram_mb", 3.0}};
  expect_read_back(report);
  const Json parameters = written(report)["problems"][0]["ranking"][0]["parameters"];
  EXPECT_EQ(parameters.dump(), R"({"z":1,"a":-5,"m":false,"text":"a/b","not_7":"007"})");
}

TEST(ReadResults, KeepsNumbersThatAreNotFinite) {
  RunReport report = sample_report(true);
  auto& inputs = std::get<Measured>(report.problems[0].ranking[0].outcome).verification.inputs;
  inputs.resize(2);
  inputs[1].max_abs_error = std::numeric_limits<double>::infinity();
  inputs[1].limit = std::numeric_limits<double>::quiet_NaN();
  expect_read_back(report);
}

TEST(ReadResults, KeepsWhatIsKnownOfAMedianAlone) {
  RunReport report = sample_report(true);
  std::get<Measured>(report.problems[0].ranking[0].outcome).timing = timing_of_median(100.0);
  expect_read_back(report);
}

TEST(ReadResults, ReadsSeveralRuns) {
  const std::vector<RunReport> reports{sample_race(), sample_report(false)};
  const auto read = read_results_text(json_text(runs_object(reports)), "sample");
  ASSERT_THAT(read, SizeIs(2));
  for (std::size_t i = 0; i < read.size(); ++i) {
    EXPECT_EQ(record_text(record_json(read[i])), record_text(record_json(reports[i])));
  }
}

TEST(ReadResults, AFileOfWinnersHasTheFirstOfEachRankingAndCountsTheOthers) {
  RunReport report = sample_race();
  std::vector<Result>& ranking = report.problems[0].ranking;
  while (ranking.size() < 8) {
    ranking.push_back(ranking.back());
  }
  const auto read = read_results_text(best_configs_json(report), "sample");
  ASSERT_THAT(read, SizeIs(1));
  EXPECT_EQ(read[0].command_line, report.command_line);
  ASSERT_THAT(read[0].problems, SizeIs(1));
  const ProblemReport& problem = read[0].problems[0];
  ASSERT_THAT(problem.ranking, SizeIs(5));
  EXPECT_EQ(problem.ranking[0].short_form, ranking[0].short_form);
  EXPECT_THAT(std::get<Measured>(problem.ranking[0].outcome).timing.samples_us, SizeIs(0));
  EXPECT_EQ(std::get<Measured>(problem.ranking[0].outcome).timing.sample_count,
            std::get<Measured>(ranking[0].outcome).timing.sample_count);
  EXPECT_EQ(count_ranked(problem), 8U);
  EXPECT_EQ(count_failed(problem), count_failed(report.problems[0]));
  EXPECT_EQ(count_candidates(problem), count_candidates(report.problems[0]));
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
  constexpr std::int64_t kMostBytesOfResult = 5000;  // 500 MB for 100,000
  EXPECT_LT(peak_memory_bytes() - before, kResults * kMostBytesOfResult);
}

}  // namespace
}  // namespace fatune
