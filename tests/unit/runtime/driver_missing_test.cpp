#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "runtime/attention.hpp"
#include "unit/gpu/fake_driver.hpp"

namespace fatune_attention {
namespace {

/// Prints the result of current_device() to stderr and exits.
[[noreturn]] void report_device() {
  Device device;
  const Result result = current_device(device);
  std::fprintf(stderr, "%s: %s\n", status_name(result.status), result.reason);
  std::exit(0);
}

/// Each case runs in a process of its own, because a process loads the driver once, from the first
/// folder in LD_LIBRARY_PATH.
class DriverOf : public testing::Test {
 protected:
  explicit DriverOf(const std::string& folder)
      : path_("LD_LIBRARY_PATH", std::string(FATUNE_DRIVERS "/") + folder) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
  }

 private:
  fatune::gpu::ScopedVariable path_;
};

struct NoDriver : DriverOf {
  NoDriver() : DriverOf("none") {}
};
struct OldDriver : DriverOf {
  OldDriver() : DriverOf("old") {}
};

TEST_F(NoDriver, IsSaid) {
  EXPECT_EXIT(report_device(), testing::ExitedWithCode(0),
              "no driver: libcuda.so.1 cannot be loaded: install the NVIDIA driver");
}

TEST_F(OldDriver, IsSaid) {
  EXPECT_EXIT(report_device(), testing::ExitedWithCode(0),
              "no driver: the NVIDIA driver is older than CUDA 12.0");
}

}  // namespace
}  // namespace fatune_attention
