#include "gpu/driver.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include "gpu/context.hpp"
#include "unit/gpu/fake_driver.hpp"

namespace fatune::gpu {
namespace {

using testing::HasSubstr;

/// The driver is loaded once per process, so each case probes it in a process of its own.
class DriverProbe : public testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

[[noreturn]] void print_probe_and_exit() {
  const DriverStatus& status = probe_driver();
  fmt::print(stderr, "version={} devices={} error={} problem=[{}] remedy=[{}]",
             status.version_text(), status.device_count, status.error_name, status.problem,
             status.remedy);
  std::exit(status.usable() ? 0 : 4);
}

[[noreturn]] void probe_with(const char* variable, const char* value) {
  setenv(variable, value, 1);
  print_probe_and_exit();
}

TEST_F(DriverProbe, FindsAUsableDriver) {
  EXPECT_EXIT(probe_with("FATUNE_FAKE_DEVICES", "3"), testing::ExitedWithCode(0),
              "version=13.0 devices=3 error= problem=\\[\\] remedy=\\[\\]");
}

TEST_F(DriverProbe, SaysThatThereIsNoLibrary) {
  EXPECT_EXIT(probe_with("FATUNE_LIBCUDA", "/nonexistent/libcuda.so.1"), testing::ExitedWithCode(4),
              ".*cannot be loaded: /nonexistent/libcuda.so.1.*remedy=\\[.*FATUNE_LIBCUDA");
}

TEST_F(DriverProbe, SaysThatTheDriverIsTooOld) {
  EXPECT_EXIT(probe_with("FATUNE_FAKE_DRIVER_VERSION", "11040"), testing::ExitedWithCode(4),
              "version=11.4 .*for CUDA 11.4, too old.*remedy=\\[update the NVIDIA driver");
}

TEST_F(DriverProbe, SaysThatALibraryLacksFunctions) {
  EXPECT_EXIT(probe_with("FATUNE_LIBCUDA", "libm.so.6"), testing::ExitedWithCode(4),
              ".*of unknown version, too old.*it has no cuInit");
}

TEST_F(DriverProbe, SaysHowCuInitFailedAndWhatToDo) {
  EXPECT_EXIT(probe_with("FATUNE_FAKE_FAIL", "cuInit=803"), testing::ExitedWithCode(4),
              ".*error=CUDA_ERROR_SYSTEM_DRIVER_MISMATCH problem=\\[.*cuInit failed with.*"
              "remedy=\\[restart the machine");
}

TEST_F(DriverProbe, NamesACodeThatTheDriverHasNoNameFor) {
  EXPECT_EXIT(probe_with("FATUNE_FAKE_FAIL", "cuInit=998"), testing::ExitedWithCode(4),
              "error=CUresult 998 .*unknown error.*remedy=\\[check that nvidia-smi works");
}

TEST_F(DriverProbe, SaysThatThereIsNoDevice) {
  EXPECT_EXIT(probe_with("FATUNE_FAKE_DEVICES", "0"), testing::ExitedWithCode(4),
              ".*the driver sees no GPU.*CUDA_VISIBLE_DEVICES");
  EXPECT_EXIT(probe_with("FATUNE_FAKE_FAIL", "cuInit=100"), testing::ExitedWithCode(4),
              ".*error=CUDA_ERROR_NO_DEVICE");
}

[[noreturn]] void use_a_gpu_without_driver() {
  setenv("FATUNE_LIBCUDA", "/nonexistent/libcuda.so.1", 1);
  try {
    static_cast<void>(list_devices());
  } catch (const Error& error) {
    fmt::print(stderr, "{}", error.what());
    std::exit(static_cast<int>(error.code()));
  }
  std::exit(0);
}

TEST_F(DriverProbe, EveryUseWithoutDriverIsTheSameClearError) {
  EXPECT_EXIT(use_a_gpu_without_driver(), testing::ExitedWithCode(4),
              "CUDA driver library cannot be loaded");
}

class DriverErrors : public FakeDriverTest {};

TEST_F(DriverErrors, CarryCallPlaceNameAndText) {
  const ScopedVariable fail("FATUNE_FAKE_FAIL", "cuStreamCreate=2");
  const Context context(0);
  try {
    const Stream stream;
    FAIL() << "the stream was created";
  } catch (const DriverError& error) {
    EXPECT_EQ(error.call(), "cuStreamCreate");
    EXPECT_EQ(error.name(), "CUDA_ERROR_OUT_OF_MEMORY");
    EXPECT_EQ(error.text(), "out of memory");
    EXPECT_EQ(error.code(), ExitCode::gpu_failure);
    EXPECT_THAT(error.where(), testing::MatchesRegex("context\\.cpp:[0-9]+"));
    EXPECT_THAT(error.what(), HasSubstr("cuStreamCreate failed: CUDA_ERROR_OUT_OF_MEMORY"));
    EXPECT_TRUE(error.out_of_memory());
    EXPECT_FALSE(error.sticky());
  }
}

TEST_F(DriverErrors, AreStickyWhenTheContextIsDead) {
  const auto sticky = [](int result) {
    return DriverError(result, "call", std::source_location::current()).sticky();
  };
  for (const int result : {700, 702, 710, 714, 715, 716, 717, 718, 719}) {
    EXPECT_TRUE(sticky(result)) << result;
  }
  for (const int result : {1, 2, 200, 500, 600, 701}) {
    EXPECT_FALSE(sticky(result)) << result;
  }
}

}  // namespace
}  // namespace fatune::gpu
