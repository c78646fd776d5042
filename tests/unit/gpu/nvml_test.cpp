#include "gpu/nvml.hpp"

#include <dlfcn.h>
#include <gmock/gmock.h>

#include "unit/gpu/fake_driver.hpp"

namespace fatune::gpu {
namespace {

using testing::HasSubstr;

constexpr const char* kUuid = "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f";

class NvmlTest : public testing::Test {
 protected:
  static std::string problem(const std::string& uuid = kUuid) { return Nvml(uuid).problem(); }

  static int started() {
    static void* const library = dlopen(FATUNE_FAKE_NVML, RTLD_NOW | RTLD_LOCAL);
    return reinterpret_cast<int (*)()>(dlsym(library, "fatune_fake_nvml_started"))();
  }

  ScopedVariable library_{"FATUNE_LIBNVML", FATUNE_FAKE_NVML};
};

TEST_F(NvmlTest, ReadsClockPowerTemperatureAndLimits) {
  const ScopedVariable clock("FATUNE_FAKE_NVML_SM_MHZ", "1755");
  const ScopedVariable power("FATUNE_FAKE_NVML_POWER_MW", "612345");
  const ScopedVariable temperature("FATUNE_FAKE_NVML_TEMPERATURE_C", "71");
  const ScopedVariable limits("FATUNE_FAKE_NVML_LIMITS", "36");
  const Nvml nvml(kUuid);
  ASSERT_TRUE(nvml.available()) << nvml.problem();
  const auto reading = nvml.read();
  ASSERT_TRUE(reading);
  EXPECT_EQ(reading->sm_mhz, 1755.0);
  EXPECT_EQ(reading->power_w, 612.345);
  EXPECT_EQ(reading->temperature_c, 71.0);
  EXPECT_EQ(reading->clock_limits, 36U);
}

TEST_F(NvmlTest, ListsTheProcessesOnTheGpu) {
  EXPECT_TRUE(Nvml(kUuid).compute_processes().empty());
  const ScopedVariable processes("FATUNE_FAKE_NVML_PROCESSES", "12,345");
  EXPECT_THAT(Nvml(kUuid).compute_processes(), testing::ElementsAre(12, 345));
  {
    const ScopedVariable fail("FATUNE_FAKE_NVML_FAIL", "GetComputeRunningProcesses=3");
    EXPECT_TRUE(Nvml(kUuid).compute_processes().empty());
  }
  const ScopedVariable old("FATUNE_LIBNVML", FATUNE_FAKE_NVML_OLD);
  EXPECT_TRUE(Nvml(kUuid).compute_processes().empty());
}

TEST_F(NvmlTest, IsShutDownAfterUse) {
  const int before = started();
  {
    const Nvml nvml(kUuid);
    EXPECT_EQ(started(), before + 1);
  }
  EXPECT_EQ(started(), before);
}

TEST_F(NvmlTest, AnOlderLibraryHasTheLimitsUnderTheirOlderName) {
  const ScopedVariable old("FATUNE_LIBNVML", FATUNE_FAKE_NVML_OLD);
  const auto reading = Nvml(kUuid).read();
  ASSERT_TRUE(reading);
  EXPECT_EQ(reading->clock_limits, 4U);
}

TEST_F(NvmlTest, WhatItDoesNotSayIsZero) {
  const ScopedVariable fail("FATUNE_FAKE_NVML_FAIL",
                            "GetPowerUsage=3,GetTemperature=3,GetCurrentClocksEventReasons=3");
  const auto reading = Nvml(kUuid).read();
  ASSERT_TRUE(reading);
  EXPECT_EQ(reading->sm_mhz, 1980.0);
  EXPECT_EQ(reading->power_w, 0.0);
  EXPECT_EQ(reading->temperature_c, 0.0);
  EXPECT_EQ(reading->clock_limits, 0U);
}

TEST_F(NvmlTest, WithoutTheClockThereIsNoReading) {
  const Nvml nvml(kUuid);
  const ScopedVariable fail("FATUNE_FAKE_NVML_FAIL", "GetClockInfo=15");
  EXPECT_TRUE(nvml.available());
  EXPECT_FALSE(nvml.read());
}

TEST_F(NvmlTest, WhatIsMissingIsAbsentAndSaysWhy) {
  EXPECT_THAT(problem("MIG-00010203"), HasSubstr("GetHandleByUUID returned 6 for 'MIG-00010203'"));
  {
    const ScopedVariable split("FATUNE_FAKE_NVML_MIG", "1");
    EXPECT_THAT(problem(), HasSubstr("MIG"));
  }
  {
    const ScopedVariable fail("FATUNE_FAKE_NVML_FAIL", "Init_v2=9");
    EXPECT_THAT(problem(), HasSubstr("nvmlInit_v2 returned 9"));
  }
}

TEST(NvmlLibrary, ThatIsNotThereIsAbsent) {
  const ScopedVariable nowhere("FATUNE_LIBNVML", "/nonexistent/libnvidia-ml.so.1");
  const Nvml nvml(kUuid);
  EXPECT_THAT(nvml.problem(), HasSubstr("/nonexistent/libnvidia-ml.so.1"));
  EXPECT_FALSE(nvml.read());
}

TEST(NvmlLibrary, WithoutItsFunctionsIsAbsent) {
  const ScopedVariable other("FATUNE_LIBNVML", "libm.so.6");
  EXPECT_THAT(Nvml(kUuid).problem(), HasSubstr("lacks functions"));
}

}  // namespace
}  // namespace fatune::gpu
