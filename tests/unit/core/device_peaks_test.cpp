#include "core/device_peaks.hpp"

#include <gtest/gtest.h>

namespace fatune {
namespace {

DeviceLimits device(int sm, int sm_count, int clock_khz) {
  DeviceLimits limits;
  limits.arch = {sm};
  limits.sm_count = sm_count;
  limits.clock_khz = clock_khz;
  return limits;
}

// The dense 16-bit rates of NVIDIA's data sheets, at the clocks stated there.
TEST(DevicePeaks, AreThoseOfDataSheets) {
  EXPECT_NEAR(peak_tensor_flop_per_us(device(80, 108, 1410'000)), 312e6, 1e6) << "A100";
  EXPECT_NEAR(peak_tensor_flop_per_us(device(89, 142, 2505'000)), 362e6, 4e6) << "L40S";
  EXPECT_NEAR(peak_tensor_flop_per_us(device(90, 132, 1830'000)), 989e6, 1e6) << "H100 SXM";
  EXPECT_NEAR(peak_tensor_flop_per_us(device(100, 148, 1965'000)), 2.25e9, 0.15e9) << "B200";
}

TEST(DevicePeaks, AnUnknownArchitectureHasTheGreatest) {
  EXPECT_EQ(peak_tensor_flop_per_clock({130}), peak_tensor_flop_per_clock({100}));
}

TEST(DevicePeaks, NominalOnesAreOfKnownArchitecturesAlone) {
  EXPECT_EQ(nominal_tensor_flop_per_clock({90}), 4096.0);
  EXPECT_EQ(nominal_tensor_flop_per_clock({80}), 2048.0);
  EXPECT_FALSE(nominal_tensor_flop_per_clock({130}));
}

TEST(DevicePeaks, NoClockIsNoPeak) { EXPECT_EQ(peak_tensor_flop_per_us(device(90, 132, 0)), 0.0); }

}  // namespace
}  // namespace fatune
