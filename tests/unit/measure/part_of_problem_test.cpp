#include "measure/memory_plan.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <optional>

#include "measure/plausibility.hpp"
#include "model/measure_policy.hpp"

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
  EXPECT_EQ(part_batch({16, 16384, 16, 128, DType::fp16, false}), 2);
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
  problem.window = 0;
  problem.seq_lens_kv = "uniform:1-8192:0";
  EXPECT_EQ(part_batch(problem), 0) << "lengths of keys that differ";
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

TEST(PartOfProblem, TheLastWaveIsAboutAsFullAsTheWholeProblemsIs) {
  int with_part = 0;
  for (std::int64_t heads = 1; heads <= 40; ++heads) {
    const Problem problem{32, 4096, heads, 128, DType::fp16, false};
    const auto part = part_of(problem, h200());
    if (part) {
      ++with_part;
      EXPECT_LE(2 * part->batch, problem.batch);
      const PartTail tails = part_tail(*part, problem, h200());
      EXPECT_LE(tails.most - tails.least, 0.05) << heads;
      EXPECT_GE(least_time(*part, h200(), MeasurePolicy{}.flush_l2).us, 500.0);
    }
  }
  EXPECT_GT(with_part, 30);
}

double lengthening(std::int64_t blocks, std::int64_t at_a_time) {
  const double waves = static_cast<double>(blocks) / static_cast<double>(at_a_time);
  return std::ceil(waves) / waves - 1.0;
}

// Persistent blocks with tiles of 192 rows. The 86 x 16 tiles of the part are 10.4 waves, which
// take as long as 11. Four times as many take as long as 42.
TEST(PartTailTest, SomeBlocksMayBeFurtherBehindOnThePart) {
  const Problem problem{4, 16384, 16, 128, DType::fp16, false};
  const Problem part{1, 16384, 16, 128, DType::fp16, false};
  const std::int64_t tiles = 86 * 16;
  const PartTail tails = part_tail(part, problem, h200());
  EXPECT_NEAR(tails.most, lengthening(tiles, 132) - lengthening(4 * tiles, 132), 0.002);
  EXPECT_EQ(tails.least, 0.0) << "of those that share out the last wave";
  EXPECT_EQ(part_tail(problem, problem, h200()).most, 0.0);
}

TEST(PartTailTest, OfAKernelWithABlockForEachTileItIsKnown) {
  const PartTail unknown{-0.01, 0.05};
  const PartTail longer = part_tail(1376, 5504, 132, unknown);
  EXPECT_EQ(longer.least, 0.0) << "blocks do not end all at once";
  EXPECT_DOUBLE_EQ(longer.most, lengthening(1376, 132) - lengthening(5504, 132));
  const PartTail shorter = part_tail(264, 265, 132, unknown);
  EXPECT_DOUBLE_EQ(shorter.least, -lengthening(265, 132));
  EXPECT_EQ(shorter.most, 0.0);
  EXPECT_EQ(part_tail(1024, 4096, 264, unknown).most,
            lengthening(1024, 264) - lengthening(4096, 264));
}

TEST(PartTailTest, OfPersistentBlocksItIsNot) {
  const PartTail tails = part_tail(132, 132, 132, {-0.01, 0.05});
  EXPECT_EQ(tails.least, -0.01);
  EXPECT_EQ(tails.most, 0.05);
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
