#include "measure/part_of_problem.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <optional>

#include "core/measure_policy.hpp"
#include "measure/plausibility.hpp"

namespace fatune {
namespace {

DeviceLimits h200() {
  DeviceLimits limits;
  limits.arch = {90, 'a'};
  limits.sm_count = 132;
  limits.registers_per_sm = 65536;
  limits.clock_khz = 1'980'000;
  limits.memory_gbps = 4800.0;
  limits.l2_bytes = std::int64_t{60} << 20;
  limits.total_memory_bytes = std::int64_t{140} << 30;
  return limits;
}

std::int64_t part_batch(const Problem& problem, const DeviceLimits& limits = h200()) {
  const auto part = part_of(problem, limits);
  return part ? part->batch : 0;
}

TEST(PartOfProblem, LongLaunchesHaveTheFewestBatchesThatFillTheDevice) {
  EXPECT_EQ(part_batch({16, 4096, 16, 128, DType::fp16, false}), 4);
  EXPECT_EQ(part_batch({8, 8192, 16, 128, DType::bf16, false}), 2);
  EXPECT_EQ(part_batch({4, 16384, 16, 128, DType::fp16, false}), 1);
  EXPECT_EQ(part_batch({16, 16384, 16, 128, DType::fp16, false}), 1);
}

TEST(PartOfProblem, TheRestOfTheProblemIsThePartsToo) {
  Problem problem{8, 8192, 32, 128, DType::bf16, false};
  problem.kv_heads = 8;
  problem.lse = true;
  problem.layout = Layout::bhsd;
  std::optional<Problem> part = part_of(problem, h200());
  ASSERT_TRUE(part);
  EXPECT_DOUBLE_EQ(share_of(*part, problem), static_cast<double>(part->batch) / 8.0);
  part->batch = 8;
  EXPECT_EQ(*part, problem);
}

TEST(PartOfProblem, ShortLaunchesHaveNone) {
  EXPECT_EQ(part_batch({16, 2048, 16, 128, DType::fp16, false}), 0);
  EXPECT_EQ(part_batch({1, 1, 1, 64, DType::fp16, false}), 0);
  EXPECT_EQ(part_batch({1024, 128, 64, 64, DType::fp16, false}), 0);
}

TEST(PartOfProblem, MasksThatGiveBlocksUnequalWorkHaveNone) {
  Problem problem{8, 8192, 16, 128, DType::fp16, true};
  EXPECT_EQ(part_batch(problem), 0);
  problem.causal = false;
  EXPECT_NE(part_batch(problem), 0);
  problem.window = 4096;
  EXPECT_EQ(part_batch(problem), 0);
}

TEST(PartOfProblem, OneBatchHasNone) {
  EXPECT_EQ(part_batch({1, 65536, 16, 128, DType::fp16, false}), 0);
}

TEST(PartOfProblem, FewRowsNeedMoreBatches) {
  Problem decode{64, 1, 32, 128, DType::fp16, false};
  decode.seq_len_kv = 262144;
  EXPECT_EQ(part_batch(decode), 0) << "its blocks do not fill the device six times";
  EXPECT_EQ(part_batch({2, 16384, 8, 128, DType::fp16, false}), 0) << "one has 3.9 waves";
}

// 17 heads of 4096 rows: one batch leaves the last wave nearly empty at some numbers of batches.
TEST(PartOfProblem, TheLastWaveIsAsFullAsTheWholeProblemsIs) {
  const auto waves = [](const Problem& problem) {
    return static_cast<double>(problem.batch * problem.heads * problem.seq_len) / (132 * 256);
  };
  const auto tail = [&](const Problem& problem) {
    return std::ceil(waves(problem)) / waves(problem) - 1.0;
  };
  int with_part = 0;
  for (std::int64_t heads = 1; heads <= 40; ++heads) {
    const Problem problem{32, 4096, heads, 128, DType::fp16, false};
    const auto part = part_of(problem, h200());
    if (part) {
      ++with_part;
      EXPECT_LE(2 * part->batch, problem.batch);
      EXPECT_GE(waves(*part), 6.0);
      EXPECT_LE(std::abs(tail(*part) - tail(problem)), 0.04) << heads;
      EXPECT_GE(least_time(*part, h200(), MeasurePolicy{}.flush_l2).us, 500.0);
    }
  }
  EXPECT_GT(with_part, 30);
}

TEST(PartOfProblem, WhatFillsTheMemoryHasNone) {
  DeviceLimits limits = h200();
  limits.total_memory_bytes = std::int64_t{3} << 30;
  EXPECT_EQ(part_batch({16, 4096, 16, 128, DType::fp16, false}, limits), 0);
}

TEST(PartOfProblem, ADeviceThatSaysNothingOfItsSpeedHasNone) {
  EXPECT_EQ(part_batch({16, 16384, 16, 128, DType::fp16, false}, DeviceLimits{}), 0);
}

}  // namespace
}  // namespace fatune
