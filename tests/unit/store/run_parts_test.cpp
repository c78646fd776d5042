#include "store/run_parts.hpp"

#include <gmock/gmock.h>

#include <algorithm>

#include "unit/store/exchange_samples.hpp"

namespace fatune {
namespace {

/// Returns the part as it is read back from a file.
RunPart read_again(const RunPart& part) {
  const nlohmann::json records = nlohmann::json::parse(
      part_records(part).dump(-1, ' ', false, Json::error_handler_t::replace));
  return read_part(JsonNode(records, "file"));
}

TEST(RunParts, EachHasOneFamilyOnOneProblem) {
  const std::vector<RunPart> parts = parts_of(sample_tuning());
  ASSERT_EQ(parts.size(), 3U);
  EXPECT_EQ(parts[0].family, "other");
  EXPECT_EQ(tuning_results(parts[0]).settings.size(), 1U);
  EXPECT_EQ(parts[1].family, "toy");
  EXPECT_GT(tuning_results(parts[1]).settings.size(), 10U);
  EXPECT_EQ(parts[2].run.problems.front().problem.seq_len, 1024);
}

TEST(RunParts, AreTheRunAgainInAnyOrder) {
  RunReport run = sample_tuning();
  run.problems[0].failures[0].outcome = CompileFailed{"error"};  // the sample's is not UTF-8
  std::vector<RunPart> parts = parts_of(run);
  for (RunPart& part : parts) {
    part = read_again(part);
  }
  do {
    const std::vector<RunReport> runs = join_parts(parts);
    ASSERT_EQ(runs.size(), 1U);
    EXPECT_EQ(all_of(runs[0]), all_of(run));
  } while (std::ranges::next_permutation(parts, {}, &RunPart::number).found);
}

TEST(RunParts, OfTwoRunsAreTwoRuns) {
  RunReport other = sample_tuning();
  other.started_at = "2026-11-23T00:00:00Z";
  std::vector<RunPart> parts = parts_of(sample_tuning());
  std::ranges::copy(parts_of(other), std::back_inserter(parts));
  const std::vector<RunReport> runs = join_parts(parts);
  ASSERT_EQ(runs.size(), 2U);
  EXPECT_EQ(all_of(runs[0]), all_of(sample_tuning()));
  EXPECT_EQ(all_of(runs[1]), all_of(other));
}

TEST(RunParts, WithoutAProblemTheRunIsNotComplete) {
  std::vector<RunPart> parts = parts_of(sample_tuning());
  parts.pop_back();
  const RunReport run = join_parts(parts).at(0);
  EXPECT_FALSE(run.complete);
  EXPECT_EQ(run.problems.size(), 1U);
}

TEST(RunParts, EachHasTheResultsOfAllFamiliesOnItsProblem) {
  std::vector<RunPart> parts = parts_of(sample_tuning());
  parts.erase(parts.begin());
  EXPECT_EQ(all_of(join_parts(parts).at(0)), all_of(sample_tuning()));
}

TEST(RunParts, NoneMayBeThereTwice) {
  std::vector<RunPart> parts = parts_of(sample_tuning());
  parts.push_back(parts.front());
  expect_bad_file([&] { static_cast<void>(join_parts(parts)); }, {"other on", "twice"});
}

TEST(RunParts, OfARunWithoutResultsThereIsNone) {
  RunReport run = sample_tuning();
  run.problems = {ProblemReport{}};
  EXPECT_TRUE(parts_of(run).empty());
}

TEST(RunParts, RecordsThatAreNotWholeAreRefused) {
  const nlohmann::json whole = nlohmann::json::parse(
      part_records(sample_part()).dump(-1, ' ', false, Json::error_handler_t::replace));
  for (const auto& [member, value] : whole.items()) {
    nlohmann::json records = whole;
    records.erase(member);
    expect_bad_file([&] { static_cast<void>(read_part(JsonNode(records, "file"))); },
                    {"file", "'" + member + "'"});
    records[member] = nullptr;
    expect_bad_file([&] { static_cast<void>(read_part(JsonNode(records, "file"))); },
                    {"file: /" + member});
  }
}

TEST(RunParts, OfNoResultsOrWithoutATimeAreRefused) {
  const auto refuse = [](void (*change)(std::vector<ProblemReport>&)) {
    RunPart part = sample_part();
    change(part.run.problems);
    const nlohmann::json records = part_records(part);
    expect_bad_file([&] { static_cast<void>(read_part(JsonNode(records, "file"))); },
                    {"its kernel family on one problem"});
  };
  refuse([](auto& problems) { problems[0].ranking.push_back(problems[0].failures[0]); });
  refuse([](auto& problems) { problems[0] = without_results(problems[0]); });
  refuse([](auto& problems) { problems.push_back(problems[0]); });
  refuse([](auto& problems) { problems.clear(); });
}

}  // namespace
}  // namespace fatune
