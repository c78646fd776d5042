// Checks the problem-dependent rules of the space hopper against the winners measured on a GPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>

#include "plan/config_text.hpp"
#include "plan/planner.hpp"
#include "store/results_file.hpp"
#include "unit/plan/plan_fixtures.hpp"

namespace fatune {
namespace {

/// Checks the winners of one file, and returns how many are of the family.
int check_winners(const FileTree& tree, const std::string& path) {
  const Family family = load_family(tree, "flash_sm90");
  const Plan plan = make_plan(family, load_space(tree, family, "hopper"));
  int winners = 0;
  for (const RunReport& run : read_results_text(tree.read(path), path)) {
    for (const ProblemReport& report : run.problems) {
      const Result& winner = report.ranking.at(0);
      if (winner.config.family == family.name) {
        const Config& config = winner.config;
        EXPECT_EQ(parse_config(family, winner.short_form), config);
        EXPECT_TRUE(std::binary_search(plan.kept.begin(), plan.kept.end(), config))
            << winner.short_form;
        const auto pruned = prune_on({family, config, report.problem, run.device}, plan);
        EXPECT_FALSE(pruned) << path << describe(report.problem) << winner.short_form
                             << (pruned ? pruned->reason : "");
        ++winners;
      }
    }
  }
  return winners;
}

TEST(HopperRules, DropNoWinner) {
  const FileTree tree;
  const std::vector<std::string> shipped = tree.list("configs/tuned/");
  ASSERT_FALSE(shipped.empty());
  for (const std::string& path : shipped) {
    EXPECT_GT(check_winners(tree, path), 0) << path;
  }
}

/// Why one rule of the space drops a configuration; empty if it does not.
std::string why_dropped(const std::string& rule, const std::string& config,
                        const Problem& problem) {
  const FileTree tree;
  const Family family = load_family(tree, "flash_sm90");
  Space space = load_space(tree, family, "hopper");
  std::vector<SpaceRule> rules;
  std::ranges::copy_if(space.parts.at(0).rules, std::back_inserter(rules),
                       [&](const SpaceRule& one) { return one.id == rule; });
  const Config parsed = parse_config(family, config);
  const Plan plan = make_plan(family, {"s", "", {{{parsed}, rules}}});
  const auto pruned = prune_on({family, parsed, problem, fixtures::h200()}, plan);
  return pruned ? pruned->reason : "";
}

Problem of_keys(std::int64_t keys, bool causal = false, std::int64_t batch = 1) {
  return {batch, keys, 16, 128, DType::fp16, causal};
}

TEST(HopperRules, AShortStepSavesKeysOrNone) {
  const auto why = [](const Problem& problem) {
    return why_dropped("short-saves-little",
                       "(ws, FP16, 128, 128, 64, 2, 8, 2): overlap+short+slots_1+cluster_1",
                       problem);
  };
  EXPECT_EQ(why(of_keys(1024)), "the last step has all 64 keys, to within 16: none is shorter");
  EXPECT_EQ(why(of_keys(1024, true)), "under a mask all steps have 64 keys: none is shorter");
  EXPECT_EQ(why(of_keys(8192 + 48)), "a shorter step saves 16 of 8240 keys, less than 0.5 %");
  EXPECT_EQ(why(of_keys(1024 + 16)), "");
}

TEST(HopperRules, SplittingTilesSaysWhyItGainsLittle) {
  const auto why = [](Problem problem, std::int64_t window = 0) {
    problem.window = window;
    return why_dropped(
        "split-saves-little",
        "(ws, FP16, 128, 128, 64, 2, 8, 2): overlap+slots_1+cluster_1+persistent+split", problem);
  };
  EXPECT_EQ(why(of_keys(512), 64), "with a window no tile is split");
  EXPECT_EQ(why(of_keys(128 * 33)),
            "528 tiles keep all 132 SMs busy to the end: none is left to split");
  EXPECT_EQ(why(of_keys(512, true)), "under a causal mask short tiles fill the last wave already");
  EXPECT_EQ(why(of_keys(128, false, 8)),
            "128 tiles on 132 SMs leave 4 of them idle for 2 steps, less than splitting costs");
  EXPECT_EQ(why(of_keys(128 * 9)), "");
}

TEST(HopperRules, PaddedKeysAndUnfilledWavesAreCounted) {
  EXPECT_EQ(
      why_dropped("keys-padded", "(ws, FP16, 128, 128, 96, 2, 8, 2): overlap+slots_1+cluster_1",
                  of_keys(100)),
      "steps of 96 keys compute 192 for the 100 that there are, more than a fifth too many; "
      "shorter steps waste less");
  EXPECT_EQ(
      why_dropped("waves-unfilled", "(ws, FP16, 128, 192, 80, 2, 12, 3): overlap+slots_1+cluster_1",
                  of_keys(2048)),
      "the busiest of 132 SMs computes 384 rows; with tiles of 128 rows it computes 256, and "
      "fewer SMs are idle");
}

}  // namespace
}  // namespace fatune
