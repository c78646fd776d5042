
#include <gtest/gtest.h>

#include "engine/candidate_maker.hpp"
#include "model/device_limits.hpp"
#include "model/flop.hpp"
#include "plan/config_text.hpp"
#include "plan/planner.hpp"

namespace fatune {
namespace {

constexpr const char* kAlone = "(ws, FP16, 128, 128, 128, 2, 8, 2): overlap+lazy+slots_1+cluster_1";
constexpr const char* kPersistent =
    "(ws, FP16, 128, 128, 128, 2, 8, 2): overlap+lazy+slots_1+cluster_1+persistent";
constexpr const char* kCluster =
    "(ws, FP16, 128, 192, 80, 2, 12, 3): overlap+lazy+slots_2+cluster_2+persistent";

constexpr const char* kSplit =
    "(ws, FP16, 128, 128, 128, 2, 8, 2): overlap+lazy+slots_1+cluster_1+persistent+split";

class HopperEstimate : public testing::Test {
 protected:
  [[nodiscard]] LaunchGeometry launch(const char* text) const {
    return launch_geometry({family_, parse_config(family_, text), problem_, limits_});
  }
  [[nodiscard]] std::int64_t spread_blocks(const char* text) const {
    return spread_launch({family_, parse_config(family_, text), problem_, limits_}, launch(text))
        .grid[0];
  }
  [[nodiscard]] double estimate_us(const char* text) const {
    Result result = make_result(family_, parse_config(family_, text));
    result.threads_per_block = 384;
    result.blocks_per_sm = 1;
    return estimate_result({family_, result.config, problem_, limits_}, result, launch(text),
                           rates_)
        .estimate_us;
  }

  const FileTree tree_;
  const Family family_ = load_family(tree_, "flash_sm90");
  const DeviceLimits limits_ = load_device_limits(tree_, Arch{90, 'a'});
  const SmRates rates_ = load_sm_rates(tree_, Arch{90, 'a'});
  const Problem problem_{16, 4096, 16, 128, DType::fp16, false};
};

TEST_F(HopperEstimate, APersistentKernelsWorkIsThatOfItsTiles) {
  EXPECT_EQ(launch(kPersistent).grid[0], 132);
  EXPECT_EQ(spread_blocks(kPersistent), 32 * 16 * 16);
  EXPECT_EQ(spread_blocks(kAlone), launch(kAlone).grid[0]);
  EXPECT_EQ(spread_blocks(kCluster), 2 * 11 * 16 * 16);
}

TEST_F(HopperEstimate, BlocksThatShareTheKeysOfATileCountAsOneTile) {
  const auto tiles = [&](const char* text, const Problem& problem) {
    return count_tiles({family_, parse_config(family_, text), problem, limits_});
  };
  EXPECT_EQ(spread_blocks(kSplit), 32 * 32 * 16 * 16);
  for (const char* text : {kAlone, kPersistent, kSplit}) {
    EXPECT_EQ(tiles(text, problem_), 32 * 16 * 16) << text;
  }
  EXPECT_EQ(tiles(kPersistent, {16, kMostSeqLen, 16, 128, DType::fp16, false}), std::nullopt);
}

TEST_F(HopperEstimate, ExceedsTheRateOfMmaSyncAndNotThePeak) {
  for (const char* config : {kAlone, kPersistent, kCluster}) {
    const double flop_per_us = literature_flop(problem_) / estimate_us(config);
    EXPECT_LT(flop_per_us, 3150.0 / 4096.0 * peak_tensor_flop_per_us(limits_)) << config;
    EXPECT_GT(flop_per_us, 0.45 * peak_tensor_flop_per_us(limits_)) << config;
  }
  EXPECT_LT(estimate_us(kPersistent), estimate_us(kAlone));
}

TEST_F(HopperEstimate, IsThatOfTheFamilysModelBeforeAndAfterCompilation) {
  const Result result = make_result(family_, parse_config(family_, kAlone));
  const Guess guessed =
      guess({family_, result.config, problem_, limits_}, result, launch(kAlone), rates_);
  EXPECT_EQ(guessed.estimate.from, EstimateSource::calibration);
  EXPECT_EQ(guessed.estimate.estimate_us, estimate_us(kAlone));
}

/// flash_sm80 declares the work of its tensor cores, the toy family does not.
class AmpereEstimate : public testing::Test {
 protected:
  [[nodiscard]] Estimated estimated(const Family& family, const SmRates& rates,
                                    const KnownCode& code) const {
    const Config config = parse_config(family, kConfig);
    Result result = make_result(family, config);
    result.threads_per_block = 128;
    result.blocks_per_sm = 2;
    return estimate_result({family, result.config, problem_, limits_}, result,
                           launch_geometry({family, config, problem_, limits_}), rates, code);
  }
  [[nodiscard]] static Family without_quantities(Family family) {
    std::erase_if(family.derived, [](const Derived& d) { return d.name.ends_with("_flop"); });
    return family;
  }

  static constexpr const char* kConfig =
      "(FP16, 128, 64, 64, 4): async+eager+swizzled+load_0_2_2_tiles";
  const FileTree tree_;
  const Family family_ = load_family(tree_, "flash_sm80");
  const DeviceLimits limits_ = load_device_limits(tree_, Arch{90, 'a'});
  const SmRates rates_ = load_sm_rates(tree_, Arch{90, 'a'});
  const Problem problem_{16, 4096, 16, 128, DType::fp16, false};
};

TEST_F(AmpereEstimate, AnSmThatDoesLessPerClockTakesLonger) {
  SmRates slow = rates_;
  slow.mma_sync_flop /= 2;
  EXPECT_GT(estimated(family_, slow, {}).estimate_us,
            1.3 * estimated(family_, rates_, {}).estimate_us);
}

TEST_F(AmpereEstimate, SaysWhatItIsMadeFrom) {
  EXPECT_EQ(estimated(family_, rates_, {}).from, EstimateSource::family);
  EXPECT_EQ(estimated(family_, rates_, {true, CountedWork{}}).from, EstimateSource::emulation);
  EXPECT_EQ(estimated(without_quantities(family_), rates_, {}).from, EstimateSource::problem);
}

TEST_F(AmpereEstimate, CodeWithoutTensorCoresIsNoFasterThanMultiplyAdds) {
  const Estimated scalar = estimated(without_quantities(family_), rates_, {false});
  const double fp32_flop_per_us = 2.0 * 128 * 132 * 1980;
  EXPECT_LE(literature_flop(problem_) / scalar.estimate_us, fp32_flop_per_us);
  EXPECT_GT(literature_flop(problem_) /
                estimated(without_quantities(family_), rates_, {true}).estimate_us,
            2 * fp32_flop_per_us);
}

TEST(UsesTensorCores, IsSeenInPtx) {
  EXPECT_TRUE(uses_tensor_cores("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1};"));
  EXPECT_TRUE(uses_tensor_cores("wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {%f1};"));
  EXPECT_TRUE(uses_tensor_cores("wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {%f1};"));
  EXPECT_FALSE(uses_tensor_cores("fma.rn.f32 %f1, %f2, %f3, %f4; cp.async.commit_group;"));
}

}  // namespace
}  // namespace fatune
