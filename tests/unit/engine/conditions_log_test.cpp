#include "engine/journaled_race.hpp"

#include <gmock/gmock.h>

namespace fatune {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(ConditionsLog, WithoutReadingsHasNothingToSay) {
  EXPECT_FALSE(summarise(std::vector<GpuReading>()));
}

TEST(ConditionsLog, GathersExtremesMediansAndWhateverHeldTheClocks) {
  std::vector<GpuReading> log;
  log.push_back({1900, 300, 50, 0x4});
  log.push_back({1200, 200, 91, 0x40});
  log.push_back({1980, 700, 45, 0});
  log.push_back({1800, 400, 60, 0x4});
  const auto conditions = summarise(log);
  ASSERT_TRUE(conditions);
  EXPECT_EQ(conditions->readings, 4);
  EXPECT_EQ(conditions->sm_mhz_min, 1200);
  EXPECT_EQ(conditions->sm_mhz_median, 1850);
  EXPECT_EQ(conditions->sm_mhz_max, 1980);
  EXPECT_EQ(conditions->power_w_median, 350);
  EXPECT_EQ(conditions->power_w_max, 700);
  EXPECT_EQ(conditions->temperature_c_max, 91);
  EXPECT_THAT(conditions->throttle_reasons, ElementsAre("sw_power_cap", "hw_thermal_slowdown"));
}

TEST(ConditionsLog, KeepsEachOfFewReadings) {
  std::vector<GpuReading> log;
  log.push_back({1900, 300, 50, 0x4});
  log.push_back({1200, 200, 91, 0x40});
  EXPECT_THAT(summarise(log)->timeline,
              ElementsAre(GpuReading{1900, 300, 50, 0x4}, GpuReading{1200, 200, 91, 0x40}));
}

TEST(ConditionsLog, KeepsMediansOfConsecutivePartsOfManyReadings) {
  std::vector<GpuReading> log;
  for (int i = 0; i < 480; ++i) {
    log.push_back({1980.0 - i, 300, i % 10 == 3 ? 90.0 : 50.0, i == 25 ? 0x4U : 0U});
  }
  const auto timeline = summarise(log)->timeline;
  ASSERT_EQ(timeline.size(), 48U);
  EXPECT_EQ(timeline.front(), (GpuReading{1975.5, 300, 50, 0}));
  EXPECT_EQ(timeline[2], (GpuReading{1955.5, 300, 50, 0x4}));
  EXPECT_EQ(timeline.back(), (GpuReading{1505.5, 300, 50, 0}));
}

TEST(ConditionsLog, FullClocksHaveNoReasons) {
  std::vector<GpuReading> log;
  log.push_back({1980, 300, 50, 0});
  EXPECT_THAT(summarise(log)->throttle_reasons, IsEmpty());
}

}  // namespace
}  // namespace fatune
