#include "store/results_file.hpp"

#include <gmock/gmock.h>

#include "unit/base/throws_error.hpp"

namespace fatune {
namespace {

using testing::SizeIs;

TEST(ReadPeers, LeavesOutPeersWithoutATime) {
  const nlohmann::json json = {
      {"device", "Test GPU"},
      {"date", "2026-01-02"},
      {"command_line", "compare_peers"},
      {"rows",
       {{{"problem",
          {{"batch", 1},
           {"seq_len", 512},
           {"heads", 2},
           {"d_head", 64},
           {"dtype", "FP16"},
           {"causal", true}}},
         {"best", "wide"},
         {"candidates", {{"wide", {{"tflops", 600.25}}}}},
         {"sm_clock_mhz", nullptr},
         {"peers", {{"fast", {{"tflops", 500.5}}}, {"none", {{"tflops", nullptr}}}}}}}}};
  const PeerStudy study = read_peers({json, "peers.json"});
  EXPECT_EQ(study.device, "Test GPU");
  ASSERT_THAT(study.problems, SizeIs(1));
  const PeerProblem& row = study.problems[0];
  EXPECT_EQ(row.problem.seq_len, 512);
  EXPECT_TRUE(row.problem.causal);
  EXPECT_EQ(row.winner_tflops, 600.25);
  EXPECT_FALSE(row.sm_mhz);
  ASSERT_THAT(row.figures, SizeIs(1));
  EXPECT_EQ(row.figures[0].peer, "fast");
  EXPECT_EQ(row.figures[0].literature_tflops, 500.5);
}

TEST(ReadPeers, NamesWhatIsMissing) {
  const nlohmann::json json = {{"device", "Test GPU"}};
  fixtures::expect_error(
      [&] {
        (void)read_peers({json, "peers.json"});
      },
      ExitCode::bad_file, {"peers.json", "date"});
}

TEST(ReadCodeStudies, HaveTheCorrelationsOfEachProblem) {
  const nlohmann::json json = {
      {"problems",
       {{{"problem", "s512, flash"},
         {"correlations",
          {{{"what", "tensor"}, {"spearman", -0.5}, {"low", -0.7}, {"high", -0.2}}}}}}}};
  const auto studies = read_code_studies({json, "why.json"});
  ASSERT_THAT(studies, SizeIs(1));
  EXPECT_EQ(studies[0].problem, "s512, flash");
  ASSERT_THAT(studies[0].correlations, SizeIs(1));
  EXPECT_EQ(studies[0].correlations[0].what, "tensor");
  EXPECT_EQ(studies[0].correlations[0].low, -0.7);
}

}  // namespace
}  // namespace fatune
