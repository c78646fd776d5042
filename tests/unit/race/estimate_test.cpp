#include "race/estimate.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

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

constexpr SmRates kRates{2048.0, std::nullopt, 64.0, 64.0, 16.0, 128.0, 64.0, 4.0};
constexpr SmRates kHopperRates{2560.0, 3150.0, 128.0, 64.0, 16.0, 128.0, 64.0, 4.0};

/// Perfectly balanced work with one warp per scheduler that takes 1000 us of tensor work.
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
  const Estimated result = estimate(tensor_work(), device(), kRates);
  EXPECT_DOUBLE_EQ(result.estimate_us, 1000.0);
  EXPECT_DOUBLE_EQ(term(result, "tensor"), 1000.0);
}

/// Work for the counted pipes of device(). The last factor of each line is its time in us.
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
  const Estimated result = estimate(work, device(), kRates);
  EXPECT_EQ(result.from, EstimateSource::emulation);
  EXPECT_DOUBLE_EQ(term(result, "tensor"), 100.0);
  EXPECT_DOUBLE_EQ(term(result, "exponent"), 10.0);
  EXPECT_DOUBLE_EQ(term(result, "fp32"), 20.0);
  EXPECT_DOUBLE_EQ(term(result, "integer"), 30.0);
  EXPECT_DOUBLE_EQ(term(result, "shared_memory"), 40.0);
  EXPECT_DOUBLE_EQ(term(result, "global_memory"), 50.0);
  EXPECT_DOUBLE_EQ(term(result, "issue"), 60.0);
  EXPECT_DOUBLE_EQ(term(result, "exposed"), 150.0) << "issuing is no pipe of its own";
  EXPECT_DOUBLE_EQ(result.estimate_us, 250.0);
  EXPECT_EQ(estimate(tensor_work(), device(), kRates).from, EstimateSource::family);
}

TEST(Estimate, NothingIsFasterThanItsInstructionsAreIssued) {
  KernelWork work = tensor_work();
  work.counted = counted_work();
  work.counted->warp_instructions *= 5;
  const Estimated result = estimate(work, device(), kRates);
  EXPECT_DOUBLE_EQ(term(result, "issue"), 300.0);
  EXPECT_DOUBLE_EQ(result.estimate_us, 450.0);
}

/// The names of the pipes whose time differs from that at kHopperRates.
std::string changed_terms(const KernelWork& work, const SmRates& rates) {
  const Estimated before = estimate(work, device(), kHopperRates);
  const Estimated after = estimate(work, device(), rates);
  std::string names;
  for (const auto& [name, us] : after.terms) {
    const bool is_sum = name == "exposed" || name == "occupancy";
    if (!is_sum && us != term(before, name)) {
      names += " " + name;
    }
  }
  return names;
}

TEST(Estimate, WarpgroupsHaveTheRateThatAGpuHolds) {
  KernelWork work = tensor_work();
  work.counted.emplace();
  work.counted->warpgroup_flop = 3150.0 * 100 * 1000 * 70;
  EXPECT_DOUBLE_EQ(estimate(work, device(), kHopperRates).estimate_us, 70.0);
}

TEST(Estimate, WhatAFamilyDeclaresIsDoneByTheInstructionThatItNames) {
  KernelWork work = tensor_work();
  work.tensor_flop = (2560.0 * 20 + 3150.0 * 70) * 100 * 1000;
  work.warpgroup_flop = 3150.0 * 100 * 1000 * 70;
  EXPECT_DOUBLE_EQ(estimate(work, device(), kHopperRates).estimate_us, 90.0);
  work.warpgroup_flop = 2 * work.tensor_flop;
  EXPECT_THROW((void)estimate(work, device(), kHopperRates), std::invalid_argument);
}

TEST(Estimate, WithoutWgmmaItsWorkIsDoneByMmaSync) {
  KernelWork work = tensor_work();
  work.warpgroup_flop = work.tensor_flop;
  EXPECT_DOUBLE_EQ(estimate(work, device(), kRates).estimate_us, 1000.0);
}

TEST(Estimate, EachRateIsOfItsPipe) {
  KernelWork work = tensor_work();
  work.counted = counted_work();
  work.counted->warpgroup_flop = 1e9;
  work.spill_bytes = 1e9;
  std::string changed;
  visit_members(kHopperRates, [&](const MemberInfo& info, const auto&) {
    SmRates rates = kHopperRates;
    visit_members(rates, [&](const MemberInfo& other, auto& rate) {
      if (other.name == info.name) {
        rate = std::optional<double>(rate).value() / 2;
      }
    });
    changed += std::string(info.name) + ":" + changed_terms(work, rates) + "\n";
  });
  EXPECT_EQ(changed,
            "mma_sync_flop: tensor\n"
            "wgmma_flop: tensor\n"
            "fp32_operations: fp32\n"
            "integer_operations: integer\n"
            "exponentials: exponent\n"
            "smem_bytes: shared_memory\n"
            "l1_bytes: global_memory spill\n"
            "issued_warp_instructions: issue\n");
}

TEST(Estimate, RatesThatMakeNoSenseAreABug) {
  for (const double wrong : {0.0, -1.0, std::numeric_limits<double>::infinity()}) {
    SmRates rates = kHopperRates;
    rates.fp32_operations = wrong;
    EXPECT_THROW((void)estimate(tensor_work(), device(), rates), std::invalid_argument);
    rates = kHopperRates;
    rates.wgmma_flop = wrong;
    EXPECT_THROW((void)estimate(tensor_work(), device(), rates), std::invalid_argument);
  }
}

TEST(Estimate, CountsThatMakeNoSenseAreABug) {
  KernelWork work = tensor_work();
  work.counted = counted_work();
  work.counted->fp32_operations = -1.0;
  EXPECT_THROW((void)estimate(work, device(), kRates), std::invalid_argument);
}

TEST(Estimate, EachPipeHasItsRate) {
  KernelWork work = tensor_work();
  work.exponentials = 16.0 * 100 * 1000 * 10;
  work.smem_traffic_bytes = 128.0 * 100 * 1000 * 20;
  work.spill_bytes = 64.0 * 100 * 1000 * 30;
  work.device_memory_bytes = 1000.0 * 1e3 * 40;
  const Estimated result = estimate(work, device(), kRates);
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
  const double one_block = estimate(work, device(), kRates).estimate_us;
  work.blocks_per_sm = 2;
  EXPECT_DOUBLE_EQ(one_block, 1100.0);
  EXPECT_DOUBLE_EQ(estimate(work, device(), kRates).estimate_us, 1050.0);
}

TEST(Estimate, OccupancyThatTheGridCannotFillHidesNothing) {
  KernelWork work = tensor_work();
  work.exponentials = 16.0 * 100 * 1000 * 100;
  work.blocks = 100;
  work.blocks_per_sm = 4;
  EXPECT_DOUBLE_EQ(estimate(work, device(), kRates).estimate_us, 1100.0);
}

TEST(Estimate, TheBusiestSmDecides) {
  KernelWork work = tensor_work();
  work.blocks = 101;  // one SM has two blocks
  const Estimated result = estimate(work, device(), kRates);
  EXPECT_NEAR(result.estimate_us, 1000.0 * 200 / 101, 1e-9);
  EXPECT_NEAR(term(result, "occupancy"), 1000.0 * 99 / 101, 1e-9);
}

TEST(Estimate, BankConflictsCost) {
  KernelWork free = tensor_work();
  free.smem_traffic_bytes = 128.0 * 100 * 1000 * 300;
  KernelWork conflicting = free;
  conflicting.smem_traffic_bytes *= 8;
  EXPECT_GT(estimate(conflicting, device(), kRates).estimate_us,
            1.5 * estimate(free, device(), kRates).estimate_us);
}

TEST(Estimate, HopperDoesMorePerClockThanAmpere) {
  EXPECT_LT(estimate(tensor_work(), device(), kHopperRates).estimate_us,
            estimate(tensor_work(), device(), kRates).estimate_us);
}

TEST(Estimate, MultiplyAddsOfFp32HaveTheirPipe) {
  KernelWork work = tensor_work();
  work.tensor_flop = 0.0;
  work.fp32_flop = 2.0 * 64.0 * 100 * 1000 * 500;
  const Estimated result = estimate(work, device(), kRates);
  EXPECT_DOUBLE_EQ(term(result, "fp32"), 500.0);
  EXPECT_DOUBLE_EQ(result.estimate_us, 500.0);
}

TEST(Estimate, AScaledOneHasScaledTerms) {
  const Estimated twice = scaled(estimate(tensor_work(), device(), kRates), 2.0);
  EXPECT_DOUBLE_EQ(twice.estimate_us, 2000.0);
  EXPECT_DOUBLE_EQ(term(twice, "tensor"), 2000.0);
}

/// 1000 clocks are a microsecond of device().
TimeModel time_model() {
  TimeModel model;
  model.launch_clocks = 5000.0;
  model.tile_clocks = 2000.0;
  model.step_clocks = 1000.0;
  model.schedule.order = fatune_attention::detail::TileOrder::in_turn;
  model.schedule.sms = 100;
  model.schedule.heads = 150;
  model.schedule.list_rows(1);
  model.schedule.row_steps[0] = 10.0;
  return model;
}

TEST(Estimate, AModelsTimeIsThatOfTheBusiestSm) {
  const Estimated result = estimate(time_model(), 0.0, device());
  EXPECT_EQ(result.from, EstimateSource::calibration);
  EXPECT_DOUBLE_EQ(term(result, "steps"), 20.0);
  EXPECT_DOUBLE_EQ(term(result, "tiles"), 4.0);
  EXPECT_DOUBLE_EQ(term(result, "launch"), 5.0);
  EXPECT_DOUBLE_EQ(term(result, "memory_wait"), 0.0);
  EXPECT_DOUBLE_EQ(result.estimate_us, 29.0);
}

TEST(Estimate, AModelsTimeIsNoLessThanThatOfTheMemory) {
  const Estimated result = estimate(time_model(), 1000.0 * 1e3 * 40, device());
  EXPECT_DOUBLE_EQ(term(result, "memory_wait"), 11.0);
  EXPECT_DOUBLE_EQ(result.estimate_us, 40.0);
}

TEST(Estimate, AModelsMemoryIsWaitedFor) {
  TimeModel model = time_model();
  model.memory_clocks = 18000.0;
  const Estimated result = estimate(model, 0.0, device());
  // Memory gives what 100 SMs read in their 12 us, and then what 50 of them read in another 12.
  const double second = std::pow(std::pow(12.0, 6) + std::pow(6.0, 6), 1.0 / 6.0);
  EXPECT_NEAR(result.estimate_us, 5.0 + 12.0 * std::pow(2.0, 1.0 / 6.0) + second, 1e-9);
  EXPECT_NEAR(term(result, "memory_wait"), result.estimate_us - 29.0, 1e-9);
}

TEST(Estimate, RefusesWhatMakesNoSense) {
  KernelWork work = tensor_work();
  work.blocks_per_sm = 0;
  EXPECT_THROW((void)estimate(work, device(), kRates), std::invalid_argument);
  work = tensor_work();
  work.exponentials = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW((void)estimate(work, device(), kRates), std::invalid_argument);
  DeviceLimits no_clock = device();
  no_clock.clock_khz = 0;
  EXPECT_THROW((void)estimate(tensor_work(), no_clock, kRates), std::invalid_argument);
}

}  // namespace
}  // namespace fatune
