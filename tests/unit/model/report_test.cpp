#include "model/report.hpp"

#include <gmock/gmock.h>

#include "base/error.hpp"

namespace fatune {
namespace {

TEST(BusyPercent, IsOfTheTimeOfAllGpus) {
  RunReport report;
  report.wall_s = 10.0;
  report.busy_s = 30.0;
  report.gpus = 4;
  EXPECT_DOUBLE_EQ(busy_percent(report), 75.0);
}

TEST(BusyPercent, IsNothingWithoutTimeOrGpus) {
  RunReport report;
  report.wall_s = 10.0;
  EXPECT_EQ(busy_percent(report), 0.0);
  report.gpus = 1;
  report.wall_s = 0.0;
  EXPECT_EQ(busy_percent(report), 0.0);
}

}  // namespace
}  // namespace fatune
