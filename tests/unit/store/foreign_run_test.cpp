#include "store/run_parts.hpp"

#include <gmock/gmock.h>

#include "model/device_limits.hpp"
#include "model/output_format.hpp"
#include "unit/store/exchange_samples.hpp"

namespace fatune {
namespace {

class ForeignRun : public testing::Test {
 protected:
  ForeignRun() {
    file_.device.name = "NVIDIA H200";
    add(64, Validity::correct, 0.3, {});
    add(32, Validity::correct, 0.2, {0.3, 0.1, 0.2});
  }

  void add(int b_c, Validity validity, std::optional<double> time_ms,
           const std::vector<double>& runtimes_ms) {
    TunedSetting setting;
    setting.configuration = {{"dtype", "FP16"},
                             {"d_head", 128},
                             {"B_r", 64},
                             {"B_c", b_c},
                             {"n_warps", 4},
                             {"async_copy", true},
                             {"eager_load_blocks", true},
                             {"swizzled", 1},
                             {"Q_mma_load_K_tiles", 2},
                             {"K_mma_load_K_tiles", 2},
                             {"V_mma_load_K_tiles", 2},
                             {"mma_double_buffer_loads", false},
                             {"optimized_softmax", true}};
    setting.validity = validity;
    setting.time_ms = time_ms;
    setting.runtimes_ms = runtimes_ms;
    setting.timestamp = "2026-11-23 0" + std::to_string(results_.settings.size());
    results_.settings.push_back(setting);
  }
  [[nodiscard]] ProblemReport read() const {
    return foreign_run(results_, file_, families_).problems.at(0);
  }
  void expect_refused(const std::vector<std::string>& parts) const {
    expect_bad_file([&] { static_cast<void>(read()); }, parts);
  }

  FamilySet families_{{load_family(FileTree(), "flash_sm80")}};
  TuningResults results_;
  ForeignFile file_{"cache.json",
                    {16, 4096, 16, 128, DType::fp16, false},
                    load_device_limits(FileTree(), Arch{90, '\0'}),
                    "fatune import cache.json"};
};

TEST_F(ForeignRun, RanksByTheMedianOfTheRuntimesElseByTheTime) {
  const ProblemReport report = read();
  ASSERT_EQ(report.ranking.size(), 2U);
  EXPECT_EQ(report.ranking[0].short_form,
            "(FP16, 128, 64, 32, 4): async+eager+swizzled+load_2_2_2_tiles+opt_softmax");
  EXPECT_DOUBLE_EQ(ranked_us(report.ranking[0].outcome), 200.0);
  EXPECT_EQ(std::get<Measured>(report.ranking[0].outcome).timing.samples_us.size(), 3U);
  EXPECT_DOUBLE_EQ(ranked_us(report.ranking[1].outcome), 300.0);
  EXPECT_TRUE(std::get<Measured>(report.ranking[1].outcome).timing.samples_us.empty());
  EXPECT_EQ(report.ranking[1].threads_per_block, 128);
}

TEST_F(ForeignRun, SaysThatNothingWasVerifiedAndWhereItIsFrom) {
  const RunReport run = foreign_run(results_, file_, families_);
  EXPECT_EQ(run.imported_from, "cache.json");
  EXPECT_EQ(run.family, "flash_sm80");
  EXPECT_EQ(run.started_at, "2026-11-23 00");
  EXPECT_TRUE(run.source_hashes.empty());
  for (const Result& result : run.problems[0].ranking) {
    EXPECT_EQ(verified_by(result.outcome), "");
  }
}

TEST_F(ForeignRun, KeepsFailures) {
  for (const auto& [b_c, validity] : {std::pair{16, Validity::compile},
                                      {48, Validity::runtime},
                                      {80, Validity::timeout},
                                      {96, Validity::correctness},
                                      {112, Validity::constraints}}) {
    add(b_c, validity, std::nullopt, {});
  }
  const ProblemReport report = read();
  std::vector<std::string_view> names;
  for (const Result& result : report.failures) {
    names.push_back(outcome_name(result.outcome));
  }
  EXPECT_THAT(names, testing::ElementsAre("compile_failed", "crashed", "timed_out", "wrong_result",
                                          "pruned"));
  EXPECT_EQ(report.pruned, 1);
}

TEST_F(ForeignRun, ASettingThatIsThereAgainCountsOnce) {
  results_.settings.push_back(results_.settings[0]);
  results_.settings.back().time_ms = 0.001;
  EXPECT_EQ(read().ranking.size(), 2U);
  EXPECT_DOUBLE_EQ(ranked_us(read().ranking[0].outcome), 200.0);
}

TEST_F(ForeignRun, CanBeExportedAndComesBackWhole) {
  const RunReport run = foreign_run(results_, file_, families_);
  const std::vector<RunPart> parts = parts_of(run);
  ASSERT_EQ(parts.size(), 1U);
  EXPECT_EQ(all_of(join_parts(parts).at(0)), all_of(run));
}

TEST_F(ForeignRun, RefusesAKernelThatNoFamilyDescribes) {
  for (TunedSetting& setting : results_.settings) {
    setting.configuration = {{"block_size_x", 32}, {"tile", 2}};
  }
  expect_refused({"cache.json", "block_size_x, tile", "flash_sm80 (dtype, d_head", "--kernel-dir"});
}

TEST_F(ForeignRun, RefusesSettingsOfSeveralKernels) {
  results_.settings[1].configuration = {{"block_size_x", 32}};
  expect_refused({"cache.json", "not all have the same parameters"});
  results_.settings.clear();
  expect_refused({"cache.json", "at least one"});
}

TEST_F(ForeignRun, RefusesWhatFatuneCouldNotBuild) {
  results_.settings[0].configuration["B_c"] = 65;
  expect_refused({"cache.json", "\"B_c\":65", "65"});
  results_.settings[0].configuration["B_c"] = "many";
  expect_refused({"cache.json", "B_c", "many"});
  results_.settings[0].configuration["B_c"] = 64;
  file_.problem.dtype = file_.problem.kv_dtype = DType::bf16;
  expect_refused({"cache.json", "cannot build it for b16 s4096 h16 d128 BF16", "FP16"});
}

TEST_F(ForeignRun, RefusesASettingWithoutErrorAndTime) {
  add(128, Validity::correct, std::nullopt, {});
  expect_refused({"cache.json", "neither a time nor runtimes"});
}

}  // namespace
}  // namespace fatune
