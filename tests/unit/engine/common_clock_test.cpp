#include "engine/journaled_race.hpp"

#include <gtest/gtest.h>

#include "model/statistics.hpp"

namespace fatune {
namespace {

GpuReading at(double sm_mhz) { return {sm_mhz, 0, 0, 0}; }

RaceResult result_of(double time_us) {
  RaceResult result;
  Standing standing;
  standing.timing = summarise({time_us}, 0.95);
  result.standings.push_back(standing);
  return result;
}

constexpr bool kOnPart = true;

TEST(CommonClock, ATimeIsLongerAtASlowerClock) {
  CommonClock clock;
  EXPECT_EQ(clock.at_first_clock(100.0, at(1500), kOnPart), 100.0);
  EXPECT_EQ(clock.at_first_clock(100.0, at(1650), kOnPart), 110.0);
  EXPECT_EQ(clock.at_first_clock(100.0, at(1350), !kOnPart), 90.0);
}

TEST(CommonClock, WithoutAReadingTheClockIsThatOfTheLastSample) {
  CommonClock clock;
  EXPECT_EQ(clock.at_first_clock(100.0, std::nullopt, !kOnPart), 100.0);
  EXPECT_EQ(clock.at_first_clock(100.0, at(1500), !kOnPart), 100.0);
  EXPECT_EQ(clock.at_first_clock(100.0, at(1650), !kOnPart), 110.0);
  EXPECT_EQ(clock.at_first_clock(100.0, at(0), !kOnPart), 110.0) << "0: the reading has none";
}

TEST(CommonClock, ResultsAreBroughtToTheMedianClock) {
  CommonClock clock;
  for (const double sm_mhz : {1500.0, 1200.0, 1000.0}) {
    static_cast<void>(clock.at_first_clock(100.0, at(sm_mhz), !kOnPart));
  }
  RaceResult result = result_of(100.0);
  clock.bring_to_median(result);
  EXPECT_DOUBLE_EQ(result.standings[0].timing.median_us, 125.0);
  EXPECT_DOUBLE_EQ(result.standings[0].timing.samples_us[0], 125.0);
}

TEST(CommonClock, TheMedianIsOfTheWholeProblemWhereItWasSampled) {
  CommonClock clock;
  static_cast<void>(clock.at_first_clock(100.0, at(1900), kOnPart));
  EXPECT_EQ(clock.median_mhz(), 1900.0);
  static_cast<void>(clock.at_first_clock(100.0, at(1600), !kOnPart));
  EXPECT_EQ(clock.median_mhz(), 1600.0);
}

TEST(CommonClock, WithoutClocksResultsStay) {
  EXPECT_EQ(CommonClock().median_mhz(), 0.0);
  RaceResult result = result_of(100.0);
  CommonClock().bring_to_median(result);
  EXPECT_EQ(result.standings[0].timing.median_us, 100.0);
}

}  // namespace
}  // namespace fatune
