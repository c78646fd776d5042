#include "measure/timing.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace fatune {
namespace {

using std::chrono::milliseconds;

class GpuMonitorTest : public testing::Test {
 protected:
  std::optional<GpuReading> read() {
    ++readings_;
    return silent_ ? std::nullopt : std::optional(GpuReading{1980, 300, 40, limits_.load()});
  }
  /// Waits until that many more readings have been kept. The limit of this wait is far longer than
  /// any pause.
  void await_readings(int more) {
    const int enough = readings_ + more + 1;
    for (int i = 0; i < 10'000 && readings_ < enough; ++i) {
      std::this_thread::sleep_for(milliseconds(1));
    }
    ASSERT_GE(readings_, enough);
  }

  std::atomic<int> readings_{0};
  std::atomic<std::uint32_t> limits_{0};
  std::atomic<bool> silent_{false};
  GpuMonitor monitor_{[this] { return read(); }, milliseconds(1)};
};

TEST_F(GpuMonitorTest, ReadsWhileWorkIsUnderWayAlone) {
  std::this_thread::sleep_for(milliseconds(20));
  EXPECT_EQ(readings_, 0);
  EXPECT_FALSE(monitor_.latest());
  {
    const GpuMonitor::Work work(&monitor_);
    await_readings(3);
  }
  const int at_end = readings_;
  std::this_thread::sleep_for(milliseconds(20));
  EXPECT_LE(readings_, at_end + 1) << "one may have been under way";
  ASSERT_TRUE(monitor_.latest());
  EXPECT_EQ(monitor_.latest()->sm_mhz, 1980.0);
}

TEST_F(GpuMonitorTest, LimitsBetweenTwoLooksAreNotLost) {
  const GpuMonitor::Work work(&monitor_);
  limits_ = 0x8;
  await_readings(2);
  limits_ = 0x20;
  await_readings(2);
  limits_ = 0;
  await_readings(2);
  EXPECT_EQ(monitor_.latest().value().clock_limits, 0x28U);
  EXPECT_EQ(monitor_.latest().value().clock_limits, 0U) << "told once";
}

TEST_F(GpuMonitorTest, WhatIsTooOldIsAbsent) {
  {
    const GpuMonitor::Work work(&monitor_);
    await_readings(1);
  }
  std::this_thread::sleep_for(milliseconds(600));
  EXPECT_FALSE(monitor_.latest());
}

TEST_F(GpuMonitorTest, ALibraryThatGoesSilentIsAbsent) {
  const GpuMonitor::Work work(&monitor_);
  await_readings(1);
  silent_ = true;
  await_readings(2);
  EXPECT_FALSE(monitor_.latest());
}

TEST(GpuMonitorWork, NeedsNoMonitor) { const GpuMonitor::Work work(nullptr); }

}  // namespace
}  // namespace fatune
