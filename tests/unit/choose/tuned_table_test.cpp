#include "choose/tuned_table.hpp"

#include <gtest/gtest.h>

#include "unit/choose/table_samples.hpp"

namespace fatune {
namespace {

using samples::problem;
using samples::row;

TEST(TunedTable, KeepsTheFasterOfTwoRowsOnOneGpu) {
  Problem scaled = problem(512);
  scaled.softmax_scale = 1.0F;
  const TunedTable table =
      samples::table({row(problem(512), {{1, 20.0}}), row(scaled, {{2, 10.0}})});
  ASSERT_EQ(table.problems.size(), 1U);
  EXPECT_EQ(table.problems[0].times[0].short_form, "c2");
}

TEST(TunedTable, KeepsBothRowsOfTwoGpus) {
  const TunedTable table = samples::table(
      {row(problem(512), {{1, 20.0}}, samples::gpu("GPU B")), row(problem(512), {{2, 10.0}})});
  ASSERT_EQ(table.problems.size(), 2U);
  EXPECT_EQ(table.problems[0].gpu.name, "GPU A");
  EXPECT_EQ(table.problems[1].gpu.name, "GPU B");
}

TEST(TunedTable, DefaultsToWhatIsMeasuredOnMostAndThenBest) {
  const TunedTable table = samples::table({row(problem(512), {{1, 10.0}, {2, 11.0}, {3, 20.0}}),
                                           row(problem(1024), {{4, 10.0}, {2, 12.0}, {3, 13.0}}),
                                           row(problem(1024, 16, true), {{5, 1.0}})});
  ASSERT_EQ(table.defaults.size(), 2U);
  const DefaultConfig& full = table.defaults[0];
  EXPECT_EQ(full.short_form, "c2");
  EXPECT_EQ(full.problems, 2U);
  EXPECT_EQ(full.measured_on, 2U);
  EXPECT_NEAR(full.mean_regret_percent, 14.89, 0.01);
  EXPECT_NEAR(full.worst_regret_percent, 20.0, 1e-9);
  EXPECT_EQ(table.defaults[1].short_form, "c5");
}

TEST(TunedTable, HasADefaultForEachFamily) {
  TunedProblem two = row(problem(512), {{1, 10.0}, {2, 15.0}});
  two.times[1].config.family = "g";
  const TunedTable table = samples::table({two});
  ASSERT_EQ(table.defaults.size(), 2U);
  EXPECT_EQ(table.defaults[0].config.family, "f");
  EXPECT_EQ(table.defaults[1].config.family, "g");
}

TEST(TunedTable, ForgetsALeftOutRowInItsDefaultsToo) {
  const TunedTable table =
      samples::table({row(problem(512), {{1, 10.0}}), row(problem(1024), {{2, 10.0}})});
  const TunedTable rest = without_row(table, 0);
  ASSERT_EQ(rest.problems.size(), 1U);
  ASSERT_EQ(rest.defaults.size(), 1U);
  EXPECT_EQ(rest.defaults[0].short_form, "c2");
  EXPECT_EQ(rest.defaults[0].problems, 1U);
}

}  // namespace
}  // namespace fatune
