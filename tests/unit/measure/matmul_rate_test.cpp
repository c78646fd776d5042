#include "measure/timing.hpp"

#include <gtest/gtest.h>

#include "gpu/context.hpp"
#include "gpu/driver.hpp"
#include "model/device_limits.hpp"
#include "unit/gpu/fake_driver.hpp"
#include "unit/measure/host_gpu.hpp"

namespace fatune {
namespace {

class MatmulRateTest : public gpu::FakeDriverTest {
 protected:
  static DeviceLimits limits() {
    DeviceLimits limits;
    limits.arch = {90, 'a'};
    limits.sm_count = 132;
    limits.clock_khz = 1'980'000;
    limits.l2_bytes = 1 << 20;
    limits.free_memory_bytes = 1 << 30;
    return limits;
  }

  gpu::ScopedVariable duration_{"FATUNE_FAKE_MATMUL_US", "2500"};
};

// At the peak rate, a launch would take 2000 us.
TEST_F(MatmulRateTest, IsTheWorkOfALaunchOverItsTime) {
  const gpu::Context context(0);
  const MatmulRate rate = measure_matmul_rate(HostGpu::matmul_kernel(), limits(), nullptr);
  const double peak_tflops = peak_tensor_flop_per_us(limits()) / 1e6;
  EXPECT_NEAR(rate.tflops, 0.8 * peak_tflops, 0.01 * peak_tflops);
  EXPECT_EQ(rate.sm_mhz, 0.0) << "nobody reads it";
  EXPECT_EQ(gpu::FakeDriver::grid()[0], 132U);
}

TEST_F(MatmulRateTest, TakesLessThanATenthOfASecond) {
  const gpu::Context context(0);
  static_cast<void>(measure_matmul_rate(HostGpu::matmul_kernel(), limits(), nullptr));
  EXPECT_LE(gpu::FakeDriver::launches() * 5, 2 * 100) << "ms, at 2.5 a launch";
}

TEST_F(MatmulRateTest, NeedsNoGreatestClock) {
  const gpu::Context context(0);
  DeviceLimits unknown = limits();
  unknown.clock_khz = 0;
  EXPECT_GT(measure_matmul_rate(HostGpu::matmul_kernel(), unknown, nullptr).tflops, 0.0);
}

TEST_F(MatmulRateTest, ThrowsWhatTheDriverSays) {
  const gpu::ScopedVariable crash("FATUNE_FAKE_KERNEL_ERROR", "700@name:matmul");
  const gpu::Context context(0);
  EXPECT_THROW(static_cast<void>(measure_matmul_rate(HostGpu::matmul_kernel(), limits(), nullptr)),
               gpu::DriverError);
}

TEST_F(MatmulRateTest, ReadsAreOfSixteenTimesTheL2) {
  const gpu::ScopedVariable duration("FATUNE_FAKE_READ_US", "8");
  const gpu::Context context(0);
  const auto rate = measure_memory_rate(HostGpu::matmul_kernel(), limits());
  ASSERT_TRUE(rate);
  EXPECT_NEAR(rate->read_gb_per_s, 16.0 * 1048576.0 / 8.0 / 1e3, 0.1);
}

TEST_F(MatmulRateTest, ReadsNeedTwiceTheMemoryFree) {
  const gpu::Context context(0);
  DeviceLimits full = limits();
  full.free_memory_bytes = 31 << 20;
  EXPECT_FALSE(measure_memory_rate(HostGpu::matmul_kernel(), full));
}

}  // namespace
}  // namespace fatune
