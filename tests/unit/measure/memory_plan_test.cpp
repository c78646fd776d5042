#include "measure/memory_plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "measure/tensors.hpp"

namespace fatune {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::int64_t kGiB = std::int64_t{1} << 30;

DeviceLimits limits(std::int64_t free_bytes) {
  DeviceLimits device;
  device.name = "Test GPU";
  device.l2_bytes = 50 << 20;
  device.free_memory_bytes = free_bytes;
  return device;
}

const Problem kLarge{16, 4096, 16, 128, DType::bf16, false};

TEST(MemoryPlan, CountsTensorsGuardsReferencesAndFlush) {
  const MemoryPlan plan = plan_memory(kLarge, {}, limits(0));
  EXPECT_EQ(plan.whole.tensor_bytes[0], 2 * 16 * 4096 * 16 * 128);
  EXPECT_EQ(plan.whole.guard_bytes, 256 * 16 * 128 * 2) << "256 rows";
  EXPECT_EQ(plan.whole.reference_bytes, 8192LL * (128 * 6 + 4));
  EXPECT_EQ(plan.probe.tensor_bytes[0], 2 * 4096 * 16 * 128) << "one batch";
  EXPECT_EQ(plan.probe.guard_bytes, 256 * 16 * 128 * 2) << "256 rows";
  EXPECT_EQ(plan.probe.reference_bytes, 8192LL * (128 * 6 + 4));
  EXPECT_EQ(plan.flush_bytes, 200 << 20) << "four times the L2";
  EXPECT_EQ(plan.whole.total_bytes(), 4 * plan.whole.tensor_bytes[0] + 5 * plan.whole.guard_bytes +
                                          plan.whole.reference_bytes);
  EXPECT_EQ(plan.total_bytes(), kInputSets * plan.whole.total_bytes() +
                                    4 * plan.probe.total_bytes() + 2 * plan.small.total_bytes() +
                                    plan.flush_bytes);
}

TEST(MemoryPlan, CountsThePart) {
  Problem part = kLarge;
  part.batch = 4;
  const MemoryPlan plan = plan_memory(kLarge, {}, limits(0), part);
  EXPECT_EQ(plan.part.tensor_bytes[0], 2 * 4 * 4096 * 16 * 128);
  EXPECT_EQ(plan.total_bytes(), plan_memory(kLarge, {}, limits(0)).total_bytes() +
                                    kInputSets * plan.part.total_bytes() +
                                    2 * plan.small.total_bytes());
}

TEST(MemoryPlan, CountsOutputsBesideO) {
  Problem with_lse = kLarge;
  with_lse.lse = true;
  const StagePlan plan = plan_stage(with_lse);
  const StagePlan without = plan_stage(kLarge);
  EXPECT_EQ(without.output_bytes, 0);
  EXPECT_EQ(plan.output_bytes, 4 * output_rows(kLarge) + 2 * kOutputGuardBytes);
  EXPECT_EQ(plan.reference_bytes, without.reference_bytes + 8192 * 8);
  EXPECT_GE(plan_memory(with_lse, {}, limits(0)).total_bytes(),
            plan_memory(kLarge, {}, limits(0)).total_bytes() + kInputSets * plan.output_bytes);
}

TEST(MemoryPlan, NoFlushNeedsNoFlushBuffer) {
  MeasurePolicy warm;
  warm.flush_l2 = false;
  EXPECT_EQ(plan_memory(kLarge, warm, limits(0)).flush_bytes, 0);
}

TEST(MemoryPlan, TinyTensorsKeepAlignedAndGuarded) {
  const StagePlan plan = plan_stage({1, 1, 1, 64, DType::fp16, false});
  EXPECT_EQ(plan.tensor_bytes[0], kTensorAlignmentBytes);
  EXPECT_EQ(plan.guard_bytes % kTensorAlignmentBytes, 0);
  EXPECT_GE(plan.guard_bytes, 64 << 10);
}

TEST(MemoryPlan, WhatFitsIsAccepted) { EXPECT_NO_THROW(check_fits(kLarge, {}, limits(5 * kGiB))); }

TEST(MemoryPlan, WhatDoesNotFitIsRefusedWithTheFigures) {
  try {
    check_fits(kLarge, {}, limits(kGiB));
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::too_large);
    EXPECT_THAT(error.what(),
                AllOf(HasSubstr("b16 s4096 h16 d128 BF16"), HasSubstr("3.54 GiB"),
                      HasSubstr("for 3 sets of inputs"), HasSubstr("Test GPU has 1.00 GiB free"),
                      HasSubstr("smaller batch")));
  }
}

TEST(MemoryPlan, SizesBeyond64BitsAreRefusedToo) {
  const Problem huge{65535, 1 << 24, 65535, 1024, DType::fp16, false};
  EXPECT_THROW(check_fits(huge, {}, limits(kGiB)), Error);
}

}  // namespace
}  // namespace fatune
