// Checks the problem-dependent rules of the space hopper against the winners measured on a GPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "plan/config_text.hpp"
#include "plan/planner.hpp"
#include "unit/plan/plan_fixtures.hpp"

namespace fatune {
namespace {

Problem problem_of(const nlohmann::json& problem) {
  return {problem["batch"],
          problem["seq_len"],
          problem["heads"],
          problem["d_head"],
          problem["dtype"] == "BF16" ? DType::bf16 : DType::fp16,
          problem["causal"]};
}

TEST(HopperRules, DropNoWinner) {
  const FileTree tree;
  const Family family = load_family(tree, "flash_sm90");
  const Plan plan = make_plan(family, load_space(tree, family, "hopper"));
  const auto best = nlohmann::json::parse(tree.read("configs/tuned/nvidia-h200.json"));
  int winners = 0;
  for (const nlohmann::json& one : best["gpus"][0]["problems"]) {
    if (one["winner"]["family"] != family.name) {
      continue;
    }
    const std::string text = one["winner"]["config"];
    const Config config = parse_config(family, text);
    EXPECT_TRUE(std::binary_search(plan.kept.begin(), plan.kept.end(), config)) << text;
    const auto pruned =
        prune_on(family, plan, config, problem_of(one["problem"]), fixtures::h200());
    EXPECT_FALSE(pruned) << one["problem"] << text << (pruned ? pruned->reason : "");
    ++winners;
  }
  EXPECT_GT(winners, 0);
}

}  // namespace
}  // namespace fatune
