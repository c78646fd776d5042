#include "proof/small_emulation.hpp"

#include <gtest/gtest.h>

#include "gpu/compiler.hpp"
#include "plan/planner.hpp"
#include "unit/plan/plan_fixtures.hpp"

namespace fatune {
namespace {

using fixtures::flash;
using fixtures::flash_config;
using fixtures::h200;

const char* const kConfig =
    "(FP16, 128, 128, 64, 4): async+eager+swizzled+load_2_2_2_tiles+opt_softmax";

std::vector<SmallLaunch> launches_for(const Problem& problem) {
  return small_launches({flash(), flash_config(kConfig), problem, h200()});
}

TEST(ShortLength, IsRaggedAsTheLongOneIs) {
  for (std::int64_t seq_len = 1; seq_len < 3000; ++seq_len) {
    const std::int64_t length = short_length(seq_len);
    EXPECT_LE(length, seq_len);
    EXPECT_LT(length, 384);
    EXPECT_TRUE(length == seq_len || length >= 128) << seq_len;
    for (const std::int64_t tile : {16, 32, 64, 128, 256}) {
      EXPECT_EQ(length % tile, seq_len % tile) << seq_len << " in tiles of " << tile;
    }
  }
}

TEST(SmallLaunches, OneHeadOfAsManyHasTheCodeOfTheProblemItself) {
  const Problem problem{16, 4096, 16, 128, DType::fp16, true};
  const SmallLaunch first = launches_for(problem).at(0);
  EXPECT_EQ(first.launch.on.problem, (Problem{1, 256, 16, 128, DType::fp16, true}));
  EXPECT_EQ(first.launch.on.only_head, 15);
  EXPECT_TRUE(first.same_code);
  EXPECT_EQ(artifact_key(first.request),
            artifact_key(compile_request({flash(), flash_config(kConfig), problem, h200()})));
  EXPECT_EQ(describe(first.launch.on), "b1 s256 h16 d128 FP16 causal, head 15 alone");
}

TEST(SmallLaunches, TheBlocksAreThoseOfTheLastHead) {
  const SmallLaunch first =
      launches_for({16, 1000, 16, 128, DType::fp16, false}).at(0);  // a grid of 2 x 16 blocks
  ASSERT_EQ(first.launch.geometry.grid, (std::array<std::int64_t, 3>{2, 16, 1}));
  for (std::int64_t block = 0; block < 32; ++block) {
    EXPECT_EQ(first.launch.blocks.contains(block, first.launch.geometry), block >= 30) << block;
  }
}

TEST(SmallLaunches, TwoHeadsAreTheLastResort) {
  const SmallLaunch last = launches_for({16, 4096, 16, 128, DType::fp16, false}).back();
  EXPECT_EQ(last.launch.on.problem.heads, 2);
  EXPECT_FALSE(last.launch.on.only_head);
  EXPECT_FALSE(last.same_code) << "its stride from row to row is another";
}

TEST(SmallLaunches, OneHeadIsRunAsItIs) {
  const auto launches = launches_for({1, 512, 1, 128, DType::fp16, false});
  ASSERT_EQ(launches.size(), 1U);
  EXPECT_FALSE(launches[0].launch.on.only_head);
  EXPECT_TRUE(launches[0].same_code);
}

TEST(SmallLaunches, AGridThatMixesHeadsIsRunAsAWhole) {
  nlohmann::json family = fixtures::toy_json();
  family["launch"]["grid"] = {"heads * ceil_div(seq_len, BLOCK_ROWS)", "heads", "1"};
  const Family mixed = fixtures::load_changed(family);
  const Config config{mixed.name, {5, 64, 32, 1}};
  for (const SmallLaunch& small :
       small_launches({mixed, config, {1, 512, 16, 64, DType::fp16, false}, h200()})) {
    EXPECT_FALSE(small.launch.on.only_head);
    EXPECT_EQ(small.launch.on.problem.heads, 2);
  }
}

}  // namespace
}  // namespace fatune
