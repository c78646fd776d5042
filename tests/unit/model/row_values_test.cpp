
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "model/cpu_reference.hpp"

namespace fatune {
namespace {

constexpr float kFloatInfinity = std::numeric_limits<float>::infinity();
constexpr double kLimit = 1e-3;
const std::vector<RowStatistics> kReference{
    {1.0, 2.0}, {-3.0, 0.0}, {-kFloatInfinity, -kFloatInfinity}};

ErrorStats compare(RowValue what, std::vector<float> values) {
  return compare_row_values("name", what, values, kReference, kLimit);
}

TEST(RowValues, HaveTheNamesOfFamilies) {
  EXPECT_EQ(find_enum<RowValue>("lse"), RowValue::log_sum_exp);
  EXPECT_EQ(find_enum<RowValue>("row_max"), RowValue::maximum);
  EXPECT_EQ(find_enum<RowValue>("row_sum"), RowValue::sum);
  EXPECT_FALSE(find_enum<RowValue>("unchecked"));
  EXPECT_FALSE(find_enum<RowValue>(""));
}

TEST(RowValues, AreComparedAsLogarithms) {
  const float e2 = std::exp(2.0F);
  for (const ErrorStats& stats : {compare(RowValue::log_sum_exp, {3.0F, -3.0F, -kFloatInfinity}),
                                  compare(RowValue::maximum, {1.0F, -3.0F, -kFloatInfinity}),
                                  compare(RowValue::sum, {e2, 1.0F, 0.0F})}) {
    EXPECT_EQ(stats.output, "name");
    EXPECT_EQ(stats.elements, 3);
    EXPECT_EQ(stats.limit, kLimit);
    EXPECT_LT(stats.max_abs_error, 1e-6);
    EXPECT_EQ(stats.mismatched + stats.not_finite, 0);
  }
  EXPECT_NEAR(compare(RowValue::sum, {2 * e2, 1.0F, 0.0F}).max_abs_error, std::log(2.0), 1e-6);
}

TEST(RowValues, AreMinusInfinityWhereNoKeyIsSeenAndNowhereElse) {
  const ErrorStats here = compare(RowValue::log_sum_exp, {-kFloatInfinity, -3.0F, -kFloatInfinity});
  EXPECT_EQ(here.not_finite, 1);
  const ErrorStats there = compare(RowValue::log_sum_exp, {3.0F, -3.0F, 0.0F});
  EXPECT_EQ(there.mismatched, 1);
  EXPECT_EQ(there.max_abs_error, 0.0);
}

TEST(RowValues, MayNotBeNan) {
  const ErrorStats stats = compare(RowValue::sum, {NAN, -1.0F, kFloatInfinity});
  EXPECT_EQ(stats.not_finite, 3);
  EXPECT_EQ(stats.mismatched, 3);
}

TEST(RowValues, TheGreatestNormIsOfOneRow) {
  const std::vector<double> elements{3.0, 4.0, 0.0, 1.0};
  EXPECT_EQ(greatest_norm(elements, 2), 5.0);
}

TEST(RowValues, TheReferenceOfEqualScoresIsTheirNumber) {
  Problem problem{1, 3, 1, 8, DType::fp16, true};
  problem.softmax_scale = 0.5F;
  const std::vector<double> ones(24, 1.0);
  const std::vector<RowStatistics> rows = cpu_row_statistics(problem, ones, ones);
  ASSERT_EQ(rows.size(), 3U);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_NEAR(rows[i].maximum, 4.0, 1e-12);
    EXPECT_NEAR(rows[i].log_of_sum, std::log(static_cast<double>(i + 1)), 1e-12);
    EXPECT_NEAR(rows[i].of(RowValue::log_sum_exp), 4.0 + rows[i].log_of_sum, 1e-12);
  }
}

}  // namespace
}  // namespace fatune
