#include "choose/tuned_file.hpp"

#include <gmock/gmock.h>

#include "base/ranges.hpp"
#include "choose/time_fit.hpp"
#include "model/statistics.hpp"

namespace fatune {
namespace {

const FamilySet& families() {
  static const FamilySet set({load_family(FileTree(), "flash_sm90")});
  return set;
}

const SourceHashes kHashes{{"flash_sm90", "abc"}};

Result result(const std::string& config, double us, int tie_group = 1) {
  Result result;
  result.config.family = "flash_sm90";
  result.short_form = config;
  result.tie_group = tie_group;
  result.outcome = Measured{timing_of_median(us), {"gpu references", 1, {}}};
  return result;
}

const std::string kGood = "(ws, FP16, 64, 192, 128, 2, 12, 3): overlap+lazy+slots_1+cluster_1";
const std::string kOther = "(ws_pp, FP16, 64, 192, 128, 2, 12, 3): overlap+lazy+slots_1+cluster_1";

/// A run on one problem.
RunReport sample_run() {
  RunReport run;
  run.started_at = "2026-11-23T00:00:00Z";
  run.complete = false;
  run.toolchain = {"0.1.0", "13.0", {}, "580"};
  run.device.name = "NVIDIA H200";
  run.device.arch = {90, 'a'};
  run.device.sm_count = 132;
  ProblemReport& problem = run.problems.emplace_back();
  problem.problem = {16, 512, 16, 64, DType::fp16, false};
  problem.ranking = {result(kGood, 40.0), result(kOther, 42.0, 2)};
  return run;
}

TunedTable table_of(const std::vector<RunReport>& runs) {
  TunedTable table;
  for (const RunReport& run : runs) {
    add_tuned(run, "results.json", {families(), kHashes}, table);
  }
  finish_table(table);
  return table;
}

TEST(TunedFile, ReadsARankingWithItsRegrets) {
  const TunedTable table = table_of({sample_run()});
  ASSERT_EQ(table.problems.size(), 1U);
  const TunedProblem& row = table.problems[0];
  EXPECT_EQ(row.gpu, (GpuModel{"NVIDIA H200", {90, 'a'}, 132}));
  EXPECT_EQ(row.problem.seq_len, 512);
  ASSERT_EQ(row.times.size(), 2U);
  EXPECT_EQ(row.times[1].short_form, kOther);
  EXPECT_NEAR(row.times[1].regret_percent, 5.0, 1e-9);
  EXPECT_EQ(row.times[1].tie_group, 2);
  EXPECT_EQ(row.times[1].verified, "gpu");
  EXPECT_EQ(table.origins.at(0).nvrtc_version, "13.0");
  EXPECT_FALSE(table.origins.at(0).complete);
  EXPECT_TRUE(table.skipped.empty());
}

TEST(TunedFile, SaysHowNoisyItsTimesAre) {
  RunReport run = sample_run();
  const auto timing_of = [&](std::size_t place) -> Timing& {
    return std::get<Measured>(run.problems[0].ranking[place].outcome).timing;
  };
  timing_of(0).sample_count = 64;
  timing_of(0).stddev_us = 0.8;  // of 40
  timing_of(1).sample_count = 1;
  timing_of(1).stddev_us = 0.0;
  TunedTable table = table_of({run});
  add_model_times(table, families());
  const std::vector<KnownTime>& known = *table.problems[0].known;
  ASSERT_EQ(known.size(), 2U);
  EXPECT_DOUBLE_EQ(find_in(known, table.problems[0].times[0].config, &KnownTime::config)->noise,
                   0.0025);
  EXPECT_DOUBLE_EQ(find_in(known, table.problems[0].times[1].config, &KnownTime::config)->noise,
                   0.02);
}

TEST(TunedFile, ReadsSeveralRuns) {
  RunReport other = sample_run();
  other.device.name = "NVIDIA H100";
  const TunedTable table = table_of({sample_run(), other});
  EXPECT_EQ(table.problems.size(), 2U);
  EXPECT_EQ(table.gpus.size(), 2U);
  EXPECT_EQ(table.origins.size(), 2U);
}

TEST(TunedFile, AddsWhatARaceForACoverHasTimedByItsWinner) {
  RunReport run = sample_run();
  run.problems[0].ranking = {result(kGood, 40.0)};
  ProblemReport& race = run.problems.emplace_back(run.problems[0]);
  race.run = 2;
  race.pruned = 1;
  race.ranking = {result(kGood, 20.0)};
  race.audited = {result(kOther, 21.0)};
  const TunedTable table = table_of({run});
  ASSERT_EQ(table.problems.size(), 1U);
  const std::vector<TunedTime>& times = table.problems[0].times;
  ASSERT_EQ(times.size(), 2U);
  EXPECT_NEAR(times[0].time_us, 40.0, 1e-9);
  EXPECT_NEAR(times[1].time_us, 42.0, 1e-9);
  EXPECT_NEAR(times[1].regret_percent, 5.0, 1e-9);
  EXPECT_NE(times[1].tie_group, times[0].tie_group);
}

TEST(TunedFile, AnAuditedOneMayBeTheFastest) {
  RunReport run = sample_run();
  run.problems[0].ranking = {result(kGood, 40.0)};
  run.problems[0].audited = {result(kOther, 20.0)};
  const TunedTable table = table_of({run});
  ASSERT_EQ(table.problems.size(), 1U);
  EXPECT_EQ(table.problems[0].times[0].short_form, kOther);
  EXPECT_NEAR(table.problems[0].times[1].regret_percent, 100.0, 1e-9);
}

TEST(TunedFile, SkipsAConfigurationThatDoesNotFitAndKeepsTheRest) {
  RunReport run = sample_run();
  run.problems[0].ranking[0].short_form =
      "(ws, FP16, 64, 64, 128, 2, 12, 3): overlap+lazy+slots_1+cluster_1";
  const TunedTable table = table_of({run});
  ASSERT_EQ(table.problems.size(), 1U);
  EXPECT_EQ(table.problems[0].times[0].short_form, kOther);
  EXPECT_NEAR(table.problems[0].times[0].regret_percent, 5.0, 1e-9) << "to the file's winner";
  ASSERT_EQ(table.skipped.size(), 1U);
  EXPECT_THAT(table.skipped[0].reason, testing::HasSubstr("BLOCK_M"));
}

TEST(TunedFile, SkipsAFamilyThatIsNotThere) {
  RunReport run = sample_run();
  run.problems[0].ranking[0].config.family = "flash_sm70";
  run.problems[0].ranking[1].short_form = "nonsense";
  const TunedTable table = table_of({run});
  EXPECT_TRUE(table.problems.empty());
  ASSERT_EQ(table.skipped.size(), 2U);
  EXPECT_THAT(table.skipped[0].reason, testing::HasSubstr("flash_sm70"));
}

TEST(TunedFile, SkipsWhatWasMeasuredWithOtherSources) {
  RunReport run = sample_run();
  EXPECT_FALSE(table_of({run}).problems.at(0).times[0].sources_recorded);
  run.source_hashes = {{"flash_sm90", "abc"}, {"flash_sm80", "def"}};
  EXPECT_TRUE(table_of({run}).problems.at(0).times[0].sources_recorded);
  run.source_hashes["flash_sm90"] = "def";
  const TunedTable table = table_of({run});
  EXPECT_TRUE(table.problems.empty());
  EXPECT_EQ(table.skipped.at(0).reason, "it was measured with other sources of flash_sm90");
}

TEST(TunedFile, KeepsProblemsWhoseKAndVHaveEightBits) {
  RunReport run = sample_run();
  run.problems[0].problem.kv_dtype = DType::e4m3;
  run.problems[0].problem.kv_scales = KvScales::head;
  run.problems.push_back(sample_run().problems[0]);
  const TunedTable table = table_of({run});
  EXPECT_EQ(table.problems.size(), 2U) << "of both types";
  EXPECT_TRUE(table.skipped.empty());
  ASSERT_EQ(table.defaults.size(), 2U);
  EXPECT_FALSE(table.defaults[0].kv == table.defaults[1].kv);
}

TEST(TunedFile, SkipsEstimates) {
  RunReport run = sample_run();
  run.problems[0].ranking[0].outcome = Estimated{40.0, {}};
  const TunedTable table = table_of({run});
  EXPECT_TRUE(table.problems.empty());
  EXPECT_EQ(table.skipped.at(0).reason, "its times are estimates");
}

TEST(TunedFile, SkipsAProblemWithoutARanking) {
  RunReport run = sample_run();
  run.problems[0].ranking.clear();
  EXPECT_EQ(table_of({run}).skipped.at(0).reason, "no configuration is ranked");
}

}  // namespace
}  // namespace fatune
