#include "core/measure_policy.hpp"

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

}  // namespace
}  // namespace fatune
