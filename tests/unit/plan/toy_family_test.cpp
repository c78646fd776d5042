// A family from outside, given as a folder. No part of fatune knows it.
#include <gmock/gmock.h>

#include "plan/config_text.hpp"
#include "plan/planner.hpp"
#include "plan/space.hpp"
#include "unit/plan/plan_fixtures.hpp"

namespace fatune {
namespace {

using ::testing::ElementsAre;

class ToyFamily : public ::testing::Test {
 protected:
  FileTree tree_ = fixtures::toy_tree();
  Family family_ = load_family(tree_, "toy_attention");
};

TEST_F(ToyFamily, StandsBesideTheBuiltIn) {
  EXPECT_THAT(family_names(tree_), ::testing::IsSupersetOf({"flash_sm80", "toy_attention"}));
}

TEST_F(ToyFamily, HasItsOwnSpaces) {
  std::vector<std::string> keys;
  for (const SpaceInfo& info : list_spaces(tree_, family_)) {
    keys.push_back(info.key);
  }
  EXPECT_THAT(keys, ElementsAre("toy"));
  EXPECT_EQ(choose_space(family_, std::nullopt, std::nullopt), "toy");
  fixtures::expect_error([&] { (void)load_space(tree_, family_, "tune"); }, ExitCode::usage,
                         {"toy_attention has no space 'tune'", "toy"});
}

TEST_F(ToyFamily, IsPlanned) {
  const Plan plan = make_plan(family_, load_space(tree_, family_, "toy"));
  std::vector<std::string> kept;
  for (const Config& config : plan.kept) {
    kept.push_back(short_form(family_, config));
    EXPECT_EQ(parse_config(family_, kept.back()), config);
  }
  EXPECT_THAT(kept, ElementsAre("(FP16, 128, 32): unroll_1", "(FP16, 128, 64): unroll_1",
                                "(FP16, 128, 64): unroll_2", "(BF16, 128, 32): unroll_1",
                                "(BF16, 128, 64): unroll_1", "(BF16, 128, 64): unroll_2"));
  ASSERT_EQ(plan.dropped.size(), 2U);
  EXPECT_EQ(outcome_summary(plan.dropped[0].outcome),
            "small-blocks-plain: with 32 rows there is too little to unroll");
}

TEST_F(ToyFamily, IsCompiledAsExternCWithDefines) {
  const Config config = parse_config(family_, "(bf16, 64, 32): unroll_2");
  const Problem problem{2, 100, 3, 64, DType::bf16, true};
  const CompileRequest request = compile_request({family_, config, problem, fixtures::h200()});
  EXPECT_FALSE(request.entry_is_template);
  EXPECT_EQ(request.entry_point, "toy_attention");
  using Defines = std::vector<std::pair<std::string, std::string>>;
  EXPECT_EQ(request.defines, (Defines{{"FATUNE_CAUSAL", "1"},
                                      {"FATUNE_dtype", "15"},
                                      {"FATUNE_d_head", "64"},
                                      {"FATUNE_BLOCK_ROWS", "32"},
                                      {"FATUNE_UNROLL", "2"}}));
  EXPECT_EQ(request.sources->main.name, "toy_attention/toy_attention.cu");
  EXPECT_EQ(request.sources->headers.front().name, "common/attention_args.h");
  const LaunchGeometry launch = launch_geometry({family_, config, problem, fixtures::h200()});
  EXPECT_THAT(launch.grid, ElementsAre(4, 3, 2));
  EXPECT_THAT(launch.block, ElementsAre(256, 1, 1));
  EXPECT_EQ(launch.dynamic_smem_bytes, 0);
}

}  // namespace
}  // namespace fatune
