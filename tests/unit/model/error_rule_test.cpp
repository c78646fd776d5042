#include "model/error_rule.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "model/cpu_reference.hpp"

namespace fatune {
namespace {

using ::testing::HasSubstr;

ErrorStats right_result() {
  ErrorStats stats;
  stats.input = "normal";
  stats.max_abs_error = 1.5e-3;
  stats.max_abs_difference = 1.2e-3;
  stats.max_abs_reference_error = 1e-3;
  stats.limit = 2e-3;
  stats.elements = 1000;
  return stats;
}

TEST(ErrorRule, UnitInTheLastPlace) {
  EXPECT_EQ(unit_in_last_place(1.0, DType::fp16), std::ldexp(1.0, -10));
  EXPECT_EQ(unit_in_last_place(-1.999, DType::fp16), std::ldexp(1.0, -10));
  EXPECT_EQ(unit_in_last_place(4.0, DType::bf16), std::ldexp(1.0, -5));
  EXPECT_EQ(unit_in_last_place(1e-6, DType::fp16), std::ldexp(1.0, -24)) << "subnormal";
  EXPECT_EQ(unit_in_last_place(0.0, DType::fp16), std::ldexp(1.0, -24));
}

TEST(ErrorRule, LimitIsTwiceTheReferencesError) {
  EXPECT_DOUBLE_EQ(error_limit(0.01, 1.0, DType::fp16), 0.02);
}

TEST(ErrorRule, AnExactReferenceStillAllowsOneUnitInTheLastPlace) {
  EXPECT_DOUBLE_EQ(error_limit(0.0, 3.0, DType::fp16), std::ldexp(1.0, -9));
  EXPECT_DOUBLE_EQ(error_limit(0.0, 3.0, DType::bf16), std::ldexp(1.0, -6));
}

TEST(ErrorRule, ARightResultHasNoFault) { EXPECT_FALSE(find_fault(right_result())); }

TEST(ErrorRule, TheLimitItselfIsRight) {
  ErrorStats stats = right_result();
  stats.max_abs_error = stats.limit;
  EXPECT_FALSE(find_fault(stats));
}

TEST(ErrorRule, AnErrorBeyondTheLimitIsNamedWithFigures) {
  ErrorStats stats = right_result();
  stats.max_abs_error = 2.1e-3;
  stats.mismatched = 25;
  EXPECT_THAT(find_fault(stats).value_or(""),
              ::testing::AllOf(HasSubstr("input normal"), HasSubstr("0.0021"), HasSubstr("0.002"),
                               HasSubstr("25 of 1000"), HasSubstr("2.50%")));
}

TEST(ErrorRule, TheRuleHoldsAgainstTheSixteenBitReference) {
  ErrorStats stats = right_result();
  stats.max_abs_difference = 2.1e-3;
  EXPECT_THAT(find_fault(stats).value_or(""), HasSubstr("16-bit reference 0.0021"));
}

TEST(ErrorRule, NanIsNeverRight) {
  ErrorStats stats = right_result();
  stats.max_abs_error = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(find_fault(stats));
  stats = right_result();
  stats.max_abs_difference = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(find_fault(stats));
}

TEST(ErrorRule, PoisonAndStrayWritesAreFaultsWhateverTheError) {
  ErrorStats stats = right_result();
  stats.not_finite = 3;
  EXPECT_THAT(find_fault(stats).value_or(""), HasSubstr("3 output values"));
  stats.guard_bytes_changed = 8;
  EXPECT_THAT(find_fault(stats).value_or(""), HasSubstr("wrote 8 bytes outside"));
}

ErrorStats right_row_values() {
  ErrorStats stats;
  stats.input = "normal";
  stats.output = "lse";
  stats.max_abs_error = 1e-5;
  stats.limit = 1e-3;
  stats.elements = 100;
  return stats;
}

TEST(ErrorRule, RowValuesAreNamedAndHaveOneReference) {
  ErrorStats stats = right_row_values();
  EXPECT_FALSE(find_fault(stats));
  stats.max_abs_error = 0.5;
  stats.mismatched = 25;
  EXPECT_EQ(find_fault(stats),
            "input normal: lse: greatest error 0.5, limit 0.001; 25 of 100 values mismatch "
            "(25.00%)");
  stats.guard_bytes_changed = 4;
  EXPECT_EQ(find_fault(stats), "input normal: lse: wrote 4 bytes outside the output tensor");
}

TEST(ErrorRule, ARowValueThatShouldNotBeInfiniteIsAMismatchAlone) {
  ErrorStats stats = right_row_values();
  stats.mismatched = 1;
  EXPECT_TRUE(find_fault(stats));
}

TEST(ErrorRule, RowValuesMayBeWrongByRoundingsAlone) {
  Problem problem{1, 4096, 1, 128, DType::fp16, false};
  const double norms = 13.0 * 13.0;  // of rows of Q and K drawn from normal(0, 1)
  const double limit = row_value_limit(problem, norms);
  EXPECT_GT(limit, 1e-4) << "what a right kernel needs";
  EXPECT_LT(limit, 5e-3) << "far less than a wrong base or a missing maximum";
  EXPECT_GT(row_value_limit(problem, 7 * norms), limit);
  problem.seq_len_kv = 131072;
  EXPECT_GT(row_value_limit(problem, norms), limit);
}

TEST(ErrorRule, CappedRowValuesMayBeWrongByTheErrorOfTanhToo) {
  Problem problem{1, 4096, 1, 128, DType::fp16, false};
  const double plain = row_value_limit(problem, 1e6);
  problem.softcap = 30.0F;
  EXPECT_NEAR(row_value_limit(problem, 1e6) - plain, 30.0 / 2048, 1e-9);
  EXPECT_LT(row_value_limit(problem, 1.0) - row_value_limit({1, 4096, 1, 128}, 1.0), 1e-4)
      << "no score is near the cap";
}

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
      compare_outputs("one", Problem{}, elements({1.0, -2.0, 0.5}), kExact, kRounded);
  EXPECT_EQ(stats.input, "one");
  EXPECT_EQ(stats.elements, 3);
  EXPECT_EQ(stats.max_abs_error, 0.0);
  EXPECT_DOUBLE_EQ(stats.max_abs_difference, 0.501 - 0.5);
  EXPECT_EQ(stats.limit, error_limit(0.501 - 0.5, 2.0, DType::fp16));
  EXPECT_EQ(stats.mismatched, 1);
  EXPECT_FALSE(find_fault(stats));
}

TEST(CompareOutputs, WhatIsBeyondTheLimitOrNotFiniteIsAFault) {
  EXPECT_TRUE(
      find_fault(compare_outputs("far", Problem{}, elements({1.0, -2.0, 0.6}), kExact, kRounded)));
  const ErrorStats nan =
      compare_outputs("nan", Problem{}, elements({1.0, -2.0, NAN}), kExact, kRounded);
  EXPECT_EQ(nan.not_finite, 1);
  EXPECT_TRUE(find_fault(nan));
}

Problem of_eight_bits() {
  return changed({1, 1, 1, 2}, [](Problem& p) { p.dtype = DType::e4m3; });
}

// A difference from the rounded reference of three times its error, on its other side.
TEST(CompareOutputs, OfEightBitsAreComparedWithTheExactReferenceAlone) {
  const std::vector<double> exact{1.0, 1.0};
  const std::vector<double> rounded{1.0, 1.0625};
  const auto output = [](double value) {
    return std::vector<std::uint16_t>{round_to_element(1.0, DType::bf16),
                                      round_to_element(value, DType::bf16)};
  };
  const ErrorStats within =
      compare_outputs("within", of_eight_bits(), output(0.875), exact, rounded);
  EXPECT_EQ(within.max_abs_difference, 0.0);
  EXPECT_EQ(within.limit, 0.125);
  EXPECT_FALSE(find_fault(within));
  EXPECT_EQ(compare_rows(within, of_eight_bits(), output(0.875), exact, rounded).beyond_limit,
            (std::vector<std::int32_t>{0}));
  EXPECT_TRUE(find_fault(compare_outputs("beyond", of_eight_bits(), output(0.87), exact, rounded)));
}

TEST(RowValueLimit, OfEightBitsAllowsForSumsOfFewBits) {
  for (const int d_head : {64, 128, 256}) {
    Problem problem = of_eight_bits();
    problem.d_head = d_head;
    problem.softmax_scale = 0.5F;
    Problem wide = problem;
    wide.dtype = DType::bf16;
    EXPECT_NEAR(row_value_limit(problem, 100.0) - row_value_limit(wide, 100.0),
                50.0 * 1.5 * d_head / 32 / 8192, 1e-9);
  }
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
