#include "attention/error_rule.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

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

TEST(ErrorRule, TheDocumentedRuleHoldsAgainstTheSixteenBitReference) {
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

}  // namespace
}  // namespace fatune
