#include "attention/compare_outputs.hpp"

#include <cmath>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "attention/cpu_reference.hpp"
#include "attention/error_rule.hpp"

namespace fatune {
namespace {

const std::vector<double> kExact{1.0, -2.0, 0.5};
const std::vector<double> kRounded{1.0, -2.0, 0.501};

std::vector<std::uint16_t> elements(const std::vector<double>& values) {
  std::vector<std::uint16_t> bits;
  for (const double value : values) {
    bits.push_back(round_to_element(value, DType::fp16));
  }
  return bits;
}

TEST(CompareOutputs, TheLimitIsTwiceTheErrorOfTheRoundedReference) {
  const ErrorStats stats =
      compare_outputs("one", DType::fp16, elements({1.0, -2.0, 0.5}), kExact, kRounded);
  EXPECT_EQ(stats.input, "one");
  EXPECT_EQ(stats.elements, 3);
  EXPECT_EQ(stats.max_abs_error, 0.0);
  EXPECT_DOUBLE_EQ(stats.max_abs_difference, 0.501 - 0.5);
  EXPECT_EQ(stats.limit, error_limit(0.501 - 0.5, 2.0, DType::fp16));
  EXPECT_EQ(stats.mismatched, 1);
  EXPECT_FALSE(find_fault(stats));
}

TEST(CompareOutputs, WhatIsBeyondTheLimitOrNotFiniteIsAFault) {
  EXPECT_TRUE(find_fault(
      compare_outputs("far", DType::fp16, elements({1.0, -2.0, 0.6}), kExact, kRounded)));
  const ErrorStats nan =
      compare_outputs("nan", DType::fp16, elements({1.0, -2.0, NAN}), kExact, kRounded);
  EXPECT_EQ(nan.not_finite, 1);
  EXPECT_TRUE(find_fault(nan));
}

TEST(CompareRows, CountsEachRowByHeadThenPosition) {
  const Problem problem{1, 2, 2, 2, DType::fp16, false};
  const std::vector<double> zeros(8, 0.0);
  ErrorStats stats;
  stats.input = "normal";
  stats.limit = 0.25;
  // The order is position 0 of heads 0 and 1, then position 1. Each row has two columns.
  const RowMismatches rows = compare_rows(
      stats, problem, elements({0.0, 0.125, 0.0, 0.0, 0.5, NAN, 0.0, 1.0}), zeros, zeros);
  EXPECT_EQ(rows.input, "normal");
  EXPECT_EQ(rows.rows_per_head, 2);
  EXPECT_EQ(rows.row, (std::vector<std::int32_t>{0, 1, 0, 1}));
  EXPECT_EQ(rows.mismatched, (std::vector<std::int32_t>{1, 1, 0, 1}));
  EXPECT_EQ(rows.beyond_limit, (std::vector<std::int32_t>{0, 2, 0, 1}));
}

TEST(CompareOutputs, TheRoundedReferenceRoundsScoresProbabilitiesAndOutput) {
  const Problem problem{1, 2, 1, 1, DType::bf16, false};
  const std::vector<double> q{1.0, 1.0};
  const std::vector<double> k{1.003, 0.0};  // the score rounds to 1
  const std::vector<double> v{1.0, 0.0};
  // exp(1) / (exp(1) + 1) = 0.73106: in bfloat16 0.73046875
  EXPECT_EQ(cpu_rounded_attention(problem, q, k, v), (std::vector<double>{0.73046875, 0.73046875}));
  EXPECT_NEAR(cpu_attention(problem, q, k, v)[0], 0.7316, 1e-4);
}

}  // namespace
}  // namespace fatune
