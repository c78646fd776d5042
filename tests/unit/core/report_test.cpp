#include "core/report.hpp"

#include <gmock/gmock.h>

#include "core/error.hpp"

namespace fatune {
namespace {

TEST(StrategyName, IsReadBack) {
  for (const Strategy strategy : {Strategy::exhaustive, Strategy::race}) {
    EXPECT_EQ(parse_strategy(strategy_name(strategy)), strategy);
  }
  EXPECT_EQ(strategy_name(Strategy::race), "race");
  EXPECT_EQ(strategy_name(Strategy::exhaustive), "exhaustive");
}

TEST(ParseStrategy, NamesThoseThereAre) {
  for (const char* bad : {"", "Race", "races", "fastest"}) {
    try {
      static_cast<void>(parse_strategy(bad));
      FAIL() << bad;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::usage);
      EXPECT_THAT(error.what(), testing::HasSubstr("race and exhaustive"));
    }
  }
}

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
