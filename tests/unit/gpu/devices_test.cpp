#include "gpu/driver.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "gpu/context.hpp"
#include "unit/gpu/fake_driver.hpp"

namespace fatune::gpu {
namespace {

class Devices : public FakeDriverTest {};

TEST_F(Devices, CarryTheDriversLimits) {
  const Device device = describe_device(0);
  EXPECT_TRUE(device.usable());
  const DeviceLimits& limits = device.limits;
  EXPECT_EQ(limits.name, "Fake H200");
  EXPECT_EQ(limits.uuid, "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f");
  EXPECT_EQ(limits.arch, (Arch{90, 'a'}));
  EXPECT_EQ(limits.sm_count, 132);
  EXPECT_EQ(limits.max_threads_per_block, 1024);
  EXPECT_EQ(limits.max_threads_per_sm, 2048);
  EXPECT_EQ(limits.max_blocks_per_sm, 32);
  EXPECT_EQ(limits.registers_per_sm, 65536);
  EXPECT_EQ(limits.registers_per_block, 65536);
  EXPECT_EQ(limits.smem_per_block_optin_bytes, 232448);
  EXPECT_EQ(limits.smem_per_sm_bytes, 233472);
  EXPECT_EQ(limits.smem_reserved_per_block_bytes, 1024);
  EXPECT_EQ(limits.l2_bytes, 6291456);
  EXPECT_EQ(limits.total_memory_bytes, std::int64_t{1} << 30);
  EXPECT_EQ(limits.free_memory_bytes, 0);
  EXPECT_EQ(limits.clock_khz, 1980000);
  EXPECT_NEAR(limits.memory_gbps, 4916.7, 0.1);  // 2 * 3.201 GHz * 6144 bit
}

TEST_F(Devices, BelowHopperHaveNoArchitectureSuffix) {
  const ScopedVariable capability("FATUNE_FAKE_CC", "8.6");
  EXPECT_EQ(describe_device(0).limits.arch, (Arch{86, '\0'}));
}

TEST_F(Devices, BelowCapability8AreUnusable) {
  const ScopedVariable capability("FATUNE_FAKE_CC", "7.5");
  const Device device = describe_device(0);
  EXPECT_FALSE(device.usable());
  EXPECT_EQ(device.unusable_because, "compute capability 7.5 is below 8.0");
  EXPECT_FALSE(device.remedy.empty());
}

TEST_F(Devices, InProhibitedModeAreUnusable) {
  const ScopedVariable mode("FATUNE_FAKE_COMPUTE_MODE", "2");
  const Device device = describe_device(0);
  EXPECT_THAT(device.unusable_because, testing::HasSubstr("prohibited"));
  EXPECT_THAT(device.remedy, testing::HasSubstr("nvidia-smi"));
}

TEST_F(Devices, ThatAreNotThereAreAUsageError) {
  for (const int ordinal : {-1, 1, 99}) {
    try {
      static_cast<void>(describe_device(ordinal));
      FAIL() << ordinal;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::usage);
      EXPECT_THAT(error.what(), testing::HasSubstr("there is no GPU"));
    }
  }
}

TEST_F(Devices, AreListedInOrder) { EXPECT_EQ(list_devices().size(), 1U); }

TEST_F(Devices, TellFreeMemoryThroughAContext) {
  const Context context(0);
  const MemoryInfo before = context.memory();
  const DeviceBuffer buffer(1 << 20);
  EXPECT_EQ(before.total_bytes, std::int64_t{1} << 30);
  EXPECT_EQ(before.free_bytes - context.memory().free_bytes, 1 << 20);
}

}  // namespace
}  // namespace fatune::gpu
