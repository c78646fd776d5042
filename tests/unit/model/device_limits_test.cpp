#include "model/device_limits.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"

namespace fatune {
namespace {

DeviceLimits hopper() {
  DeviceLimits limits;
  limits.max_threads_per_block = 1024;
  limits.max_threads_per_sm = 2048;
  limits.max_blocks_per_sm = 32;
  limits.registers_per_sm = 65536;
  limits.smem_per_block_optin_bytes = 232448;
  limits.smem_per_sm_bytes = 233472;
  return limits;
}

TEST(BlocksPerSm, RegistersLimit) {
  // 255 registers are allocated as 256: 65536 / (256 * 128) blocks of 128 threads.
  EXPECT_EQ(blocks_per_sm(hopper(), 128, 255, 1024), 2);
  EXPECT_EQ(blocks_per_sm(hopper(), 128, 168, 1024), 3);
  EXPECT_EQ(blocks_per_sm(hopper(), 128, 128, 1024), 4);
}

TEST(BlocksPerSm, SharedMemoryLimitsWithTheReservedPart) {
  // 48 KiB + 1 KiB reserved: four fit into 228 KiB.
  EXPECT_EQ(blocks_per_sm(hopper(), 128, 32, 48 << 10), 4);
  // 76 KiB would fit three times if nothing were reserved.
  EXPECT_EQ(blocks_per_sm(hopper(), 128, 32, 76 << 10), 2);
}

TEST(BlocksPerSm, ThreadAndBlockSlotsLimit) {
  EXPECT_EQ(blocks_per_sm(hopper(), 1024, 16, 0), 2);
  EXPECT_EQ(blocks_per_sm(hopper(), 32, 16, 0), 32);
}

TEST(BlocksPerSm, WhatCannotLaunchHasNone) {
  EXPECT_EQ(blocks_per_sm(hopper(), 1056, 16, 0), 0);
  EXPECT_EQ(blocks_per_sm(hopper(), 0, 16, 0), 0);
  EXPECT_EQ(blocks_per_sm(hopper(), 128, 16, 232449), 0);
  EXPECT_EQ(blocks_per_sm(hopper(), 1024, 128, 0), 0);
}

DeviceLimits gpu_named(const std::string& name, int sm_count = 132, Arch arch = {90, 'a'}) {
  DeviceLimits limits;
  limits.name = name;
  limits.sm_count = sm_count;
  limits.arch = arch;
  return limits;
}

TEST(FindDevice, TakesAnUnambiguousPartOfTheNameInAnyCase) {
  const std::vector<DeviceLimits> devices{gpu_named("NVIDIA H100 80GB HBM3"),
                                          gpu_named("NVIDIA H200"), gpu_named("NVIDIA H200 NVL")};
  for (const char* text : {"h100", "H100", "NVIDIA H100 80GB HBM3", "nvidia-h100", "80GB"}) {
    const auto found = find_device(devices, text, "--gpu");
    ASSERT_TRUE(found) << text;
    EXPECT_EQ(found->name, "NVIDIA H100 80GB HBM3");
  }
  EXPECT_EQ(find_device(devices, "nvidia h200", "--gpu")->name, "NVIDIA H200") << "a whole name";
  EXPECT_FALSE(find_device(devices, "A100", "--gpu"));
  EXPECT_THROW(static_cast<void>(find_device(devices, "h200", "--gpu")), Error);
}

TEST(NearestDevice, IsOfTheSameArchitecture) {
  const std::vector<DeviceLimits> devices{gpu_named("few", 108, {80, '\0'}), gpu_named("many"),
                                          gpu_named("some", 114)};
  EXPECT_EQ(nearest_device(devices, gpu_named("other", 110))->name, "some");
  EXPECT_EQ(nearest_device(devices, gpu_named("other", 110, {90, '\0'}))->name, "some");
  EXPECT_EQ(nearest_device(devices, gpu_named("other", 130))->name, "many");
  EXPECT_FALSE(nearest_device(devices, gpu_named("other", 110, {100, '\0'})));
}

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
