// Checks the problem-dependent rules of the space hopper against the winners measured on a GPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "data/device_file.hpp"
#include "data/json_file.hpp"
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

/// Checks the winners of one file, and returns how many are of the family.
int check_winners(const FileTree& tree, const std::string& path) {
  const Family family = load_family(tree, "flash_sm90");
  const Plan plan = make_plan(family, load_space(tree, family, "hopper"));
  const JsonFile best = load_json(tree, path, "best_configs");
  const JsonNode gpu = best.root().at("gpus").elements().front();
  const DeviceLimits device = read_device_limits(gpu.at("device"));
  int winners = 0;
  for (const nlohmann::json& one : gpu.raw().at("problems")) {
    if (one["winner"]["family"] != family.name) {
      continue;
    }
    const std::string text = one["winner"]["config"];
    const Config config = parse_config(family, text);
    EXPECT_TRUE(std::binary_search(plan.kept.begin(), plan.kept.end(), config)) << text;
    const auto pruned = prune_on(family, plan, config, problem_of(one["problem"]), device);
    EXPECT_FALSE(pruned) << path << one["problem"] << text << (pruned ? pruned->reason : "");
    ++winners;
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

}  // namespace
}  // namespace fatune
