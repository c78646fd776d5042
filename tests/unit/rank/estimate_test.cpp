#include "rank/estimate.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>
#include <string>

namespace fatune {
namespace {

DeviceLimits device() {
  DeviceLimits limits;
  limits.arch = Arch{80, '\0'};
  limits.sm_count = 100;
  limits.clock_khz = 1000000;
  limits.memory_gbps = 1000.0;
  return limits;
}

/// Perfectly balanced, one warp per scheduler, and busy with tensor work for 1000 us.
KernelWork tensor_work() {
  KernelWork work;
  work.tensor_flop = 2048.0 * 100 * 1000 * 1000;
  work.blocks = 1000;
  work.threads_per_block = 128;
  work.blocks_per_sm = 1;
  return work;
}

double term(const Estimated& estimated, const std::string& name) {
  for (const EstimateTerm& term : estimated.terms) {
    if (term.name == name) {
      return term.us;
    }
  }
  ADD_FAILURE() << "no term " << name;
  return 0.0;
}

TEST(Estimate, TensorWorkAloneTakesItsPeakTime) {
  const Estimated result = estimate(tensor_work(), device());
  EXPECT_DOUBLE_EQ(result.estimate_us, 1000.0);
  EXPECT_DOUBLE_EQ(term(result, "tensor"), 1000.0);
}

/// The work that takes each of the counted pipes of device() as many microseconds.
CountedWork counted_work() {
  constexpr double kClocks = 100.0 * 1000;  // of all SMs in a microsecond
  CountedWork work;
  work.tensor_flop = 2048.0 * kClocks * 100;
  work.special_functions = 16.0 * kClocks * 10;
  work.fp32_operations = 64.0 * kClocks * 20;
  work.integer_operations = 64.0 * kClocks * 30;
  work.smem_traffic_bytes = 128.0 * kClocks * 40;
  work.global_sectors = 2.0 * kClocks * 50;
  work.warp_instructions = 4.0 * kClocks * 60;
  return work;
}

TEST(Estimate, WhatWasCountedHasMorePipesAndStandsInPlaceOfWhatWasDeclared) {
  KernelWork work = tensor_work();
  work.exponentials = 1e12;
  work.counted = counted_work();
  const Estimated result = estimate(work, device());
  EXPECT_TRUE(result.counted);
  EXPECT_DOUBLE_EQ(term(result, "tensor"), 100.0);
  EXPECT_DOUBLE_EQ(term(result, "exponent"), 10.0);
  EXPECT_DOUBLE_EQ(term(result, "fp32"), 20.0);
  EXPECT_DOUBLE_EQ(term(result, "integer"), 30.0);
  EXPECT_DOUBLE_EQ(term(result, "shared_memory"), 40.0);
  EXPECT_DOUBLE_EQ(term(result, "global_memory"), 50.0);
  EXPECT_DOUBLE_EQ(term(result, "issue"), 60.0);
  EXPECT_DOUBLE_EQ(term(result, "exposed"), 150.0) << "issuing is no pipe of its own";
  EXPECT_DOUBLE_EQ(result.estimate_us, 250.0);
  EXPECT_FALSE(estimate(tensor_work(), device()).counted);
}

TEST(Estimate, NothingIsFasterThanItsInstructionsAreIssued) {
  KernelWork work = tensor_work();
  work.counted = counted_work();
  work.counted->warp_instructions *= 5;
  const Estimated result = estimate(work, device());
  EXPECT_DOUBLE_EQ(term(result, "issue"), 300.0);
  EXPECT_DOUBLE_EQ(result.estimate_us, 450.0);
}

DeviceLimits hopper() {
  DeviceLimits limits = device();
  limits.arch = Arch{90, 'a'};
  return limits;
}

TEST(Estimate, WarpgroupsHaveTheRateThatAGpuHolds) {
  KernelWork work = tensor_work();
  work.counted.emplace();
  work.counted->warpgroup_flop = 3150.0 * 100 * 1000 * 70;
  EXPECT_DOUBLE_EQ(estimate(work, hopper()).estimate_us, 70.0);
}

TEST(Estimate, WhatAFamilyDeclaresIsDoneByTheInstructionThatItNames) {
  KernelWork work = tensor_work();
  work.tensor_flop = (2560.0 * 20 + 3150.0 * 70) * 100 * 1000;
  work.warpgroup_flop = 3150.0 * 100 * 1000 * 70;
  EXPECT_DOUBLE_EQ(estimate(work, hopper()).estimate_us, 90.0);
  work.warpgroup_flop = 2 * work.tensor_flop;
  EXPECT_THROW((void)estimate(work, hopper()), std::invalid_argument);
}

TEST(Estimate, CountsThatMakeNoSenseAreABug) {
  KernelWork work = tensor_work();
  work.counted = counted_work();
  work.counted->fp32_operations = -1.0;
  EXPECT_THROW((void)estimate(work, device()), std::invalid_argument);
}

TEST(Estimate, EachPipeHasItsRate) {
  KernelWork work = tensor_work();
  work.exponentials = 16.0 * 100 * 1000 * 10;
  work.smem_traffic_bytes = 128.0 * 100 * 1000 * 20;
  work.spill_bytes = 64.0 * 100 * 1000 * 30;
  work.device_memory_bytes = 1000.0 * 1e3 * 40;
  const Estimated result = estimate(work, device());
  EXPECT_DOUBLE_EQ(term(result, "exponent"), 10.0);
  EXPECT_DOUBLE_EQ(term(result, "shared_memory"), 20.0);
  EXPECT_DOUBLE_EQ(term(result, "spill"), 30.0);
  EXPECT_DOUBLE_EQ(term(result, "device_memory"), 40.0);
  EXPECT_DOUBLE_EQ(term(result, "exposed"), 100.0);
  EXPECT_DOUBLE_EQ(result.estimate_us, 1100.0);
}

TEST(Estimate, MoreWarpsHideMore) {
  KernelWork work = tensor_work();
  work.exponentials = 16.0 * 100 * 1000 * 100;
  const double one_block = estimate(work, device()).estimate_us;
  work.blocks_per_sm = 2;
  EXPECT_DOUBLE_EQ(one_block, 1100.0);
  EXPECT_DOUBLE_EQ(estimate(work, device()).estimate_us, 1050.0);
}

TEST(Estimate, OccupancyThatTheGridCannotFillHidesNothing) {
  KernelWork work = tensor_work();
  work.exponentials = 16.0 * 100 * 1000 * 100;
  work.blocks = 100;
  work.blocks_per_sm = 4;
  EXPECT_DOUBLE_EQ(estimate(work, device()).estimate_us, 1100.0);
}

TEST(Estimate, TheBusiestSmDecides) {
  KernelWork work = tensor_work();
  work.blocks = 101;  // one SM has two
  const Estimated result = estimate(work, device());
  EXPECT_NEAR(result.estimate_us, 1000.0 * 200 / 101, 1e-9);
  EXPECT_NEAR(term(result, "occupancy"), 1000.0 * 99 / 101, 1e-9);
}

TEST(Estimate, BankConflictsCost) {
  KernelWork free = tensor_work();
  free.smem_traffic_bytes = 128.0 * 100 * 1000 * 300;
  KernelWork conflicting = free;
  conflicting.smem_traffic_bytes *= 8;
  EXPECT_GT(estimate(conflicting, device()).estimate_us,
            1.5 * estimate(free, device()).estimate_us);
}

TEST(Estimate, HopperDoesMorePerClockThanAmpere) {
  DeviceLimits hopper = device();
  hopper.arch = Arch{90, 'a'};
  EXPECT_LT(estimate(tensor_work(), hopper).estimate_us,
            estimate(tensor_work(), device()).estimate_us);
}

TEST(Estimate, RefusesWhatMakesNoSense) {
  KernelWork work = tensor_work();
  work.blocks_per_sm = 0;
  EXPECT_THROW((void)estimate(work, device()), std::invalid_argument);
  work = tensor_work();
  work.exponentials = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW((void)estimate(work, device()), std::invalid_argument);
  DeviceLimits no_clock = device();
  no_clock.clock_khz = 0;
  EXPECT_THROW((void)estimate(tensor_work(), no_clock), std::invalid_argument);
}

}  // namespace
}  // namespace fatune
