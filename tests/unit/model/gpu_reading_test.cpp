#include "model/device_limits.hpp"

#include <gmock/gmock.h>

namespace fatune {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(GpuReading, WhatAlwaysLimitsIsNoThrottling) {
  for (const std::uint32_t bits : {0x0U, 0x1U, 0x2U, 0x4U, 0x100U, 0x107U}) {
    EXPECT_FALSE(is_throttled({1980, 300, 40, bits})) << bits;
  }
}

TEST(GpuReading, SlowdownsAreThrottlingWhateverElseIsSaid) {
  for (const std::uint32_t bits : {0x8U, 0x10U, 0x20U, 0x40U, 0x80U, 0x24U, 0x200U}) {
    EXPECT_TRUE(is_throttled({1980, 300, 40, bits})) << bits;
  }
}

TEST(GpuReading, LimitsHaveTheNamesOfNvml) {
  EXPECT_THAT(clock_limit_names(0), IsEmpty());
  EXPECT_THAT(clock_limit_names(0x2c),
              ElementsAre("sw_power_cap", "hw_slowdown", "sw_thermal_slowdown"));
  EXPECT_THAT(clock_limit_names(0x80000401U), ElementsAre("gpu_idle", "0x400", "0x80000000"));
}

}  // namespace
}  // namespace fatune
