#include "engine/work_estimate.hpp"

#include <gtest/gtest.h>

#include "attention/flop.hpp"
#include "core/device_peaks.hpp"
#include "data/device_file.hpp"
#include "engine/results.hpp"
#include "plan/config_text.hpp"
#include "plan/planner.hpp"

namespace fatune {
namespace {

constexpr const char* kAlone = "(ws, FP16, 128, 128, 128, 2, 8, 2): overlap+lazy+slots_1+cluster_1";
constexpr const char* kPersistent =
    "(ws, FP16, 128, 128, 128, 2, 8, 2): overlap+lazy+slots_1+cluster_1+persistent";
constexpr const char* kCluster =
    "(ws, FP16, 128, 192, 80, 2, 12, 3): overlap+lazy+slots_2+cluster_2+persistent";

class HopperEstimate : public testing::Test {
 protected:
  [[nodiscard]] LaunchGeometry launch(const char* text) const {
    return launch_geometry(family_, parse_config(family_, text), problem_, limits_);
  }
  [[nodiscard]] std::int64_t spread_blocks(const char* text) const {
    return spread_launch(family_, parse_config(family_, text), problem_, limits_, launch(text))
        .grid[0];
  }
  [[nodiscard]] double estimate_us(const char* text) const { return estimate_us(text, rates_); }
  [[nodiscard]] double estimate_us(const char* text, const SmRates& rates) const {
    Result result = make_result(family_, parse_config(family_, text));
    result.threads_per_block = 384;
    result.blocks_per_sm = 1;
    return estimate_result(family_, result, launch(text), problem_, limits_, rates).estimate_us;
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

TEST_F(HopperEstimate, ExceedsTheRateOfMmaSyncAndNotThePeak) {
  for (const char* config : {kAlone, kPersistent, kCluster}) {
    const double flop_per_us = literature_flop(problem_) / estimate_us(config);
    EXPECT_LT(flop_per_us, 3150.0 / 4096.0 * peak_tensor_flop_per_us(limits_)) << config;
    EXPECT_GT(flop_per_us, 0.45 * peak_tensor_flop_per_us(limits_)) << config;
  }
  EXPECT_NEAR(estimate_us(kPersistent) / estimate_us(kAlone), 1.0, 0.01);
}

TEST_F(HopperEstimate, AnSmThatDoesLessPerClockTakesLonger) {
  SmRates slow = rates_;
  slow.wgmma_flop = *rates_.wgmma_flop / 2;
  EXPECT_GT(estimate_us(kAlone, slow), 1.5 * estimate_us(kAlone));
  const Result result = make_result(family_, parse_config(family_, kAlone));
  const auto guess_us = [&](const SmRates& rates) {
    return guess(family_, result, launch(kAlone), problem_, limits_, rates).estimate.estimate_us;
  };
  EXPECT_GT(guess_us(slow), 1.5 * guess_us(rates_));
}

}  // namespace
}  // namespace fatune
