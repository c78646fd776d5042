// Tests dense products on the GPU: they are right, and their rate is plausible for the device.
#include "measure/timing.hpp"

#include <chrono>
#include <cstdint>
#include <string>

#include <gtest/gtest.h>

#include "gpu/gpu_test.hpp"
#include "gpu/module.hpp"
#include "measure/measurement_module.hpp"
#include "model/device_limits.hpp"
#include "reference/matmul_rate_args.h"
#include "unit/kernels/matmul_sums.hpp"
#include "unit/measure/kernel_sources.hpp"

namespace fatune {
namespace {

class DenseProducts : public GpuTest, public testing::WithParamInterface<DType> {
 protected:
  [[nodiscard]] Artifact kernel() const {
    return compile_or_throw(
        matmul_request(read_sources(matmul_source_names()), GetParam(), arch()));
  }
};

TEST_P(DenseProducts, AreRight) {
  constexpr std::size_t kElementsA = std::size_t{kMatmulRows} * kMatmulDepth;
  constexpr std::size_t kElementsB = std::size_t{kMatmulColumns} * kMatmulDepth;
  constexpr std::size_t kSums = std::size_t{kMatmulRows} * kMatmulColumns;
  const Artifact artifact = kernel();
  const gpu::Stream stream;
  const gpu::Module module(artifact.cubin);
  const gpu::DeviceBuffer a(2 * kElementsA);
  const gpu::DeviceBuffer b(2 * kElementsB);
  const gpu::DeviceBuffer sums(4 * kSums);
  const MatmulRateArgs args{3 * kMatmulGroup, a.as<unsigned short>(), b.as<unsigned short>(),
                            sums.as<float>()};
  gpu::launch_with(module.function(artifact.lowered_name),
                   {{limits().sm_count, 1, 1}, {kMatmulThreads, 1, 1}, 0}, stream, args);
  const auto values = [&](const gpu::DeviceBuffer& buffer, std::size_t count) {
    return element_values(read_back<std::uint16_t>(buffer.address(), count, stream), GetParam());
  };
  expect_matmul_sums(read_back<float>(sums.address(), kSums, stream), args.products,
                     values(a, kElementsA), values(b, kElementsB));
}

// GeForce GPUs reach half the nominal rate with fp32 sums, and clocks drop under the power cap.
TEST_P(DenseProducts, ReachAGoodPartOfThePeak) {
  if (!nominal_tensor_flop_per_clock(arch()) || arch().sm >= 100) {
    GTEST_SKIP() << "mma.sync and wgmma are not what is fastest on " << arch_name(arch());
  }
  const MatmulRate rate = measure_matmul_rate(kernel(), limits(), nullptr);
  const double peak_tflops = peak_tensor_flop_per_us(limits()) / 1e6;
  RecordProperty("tflops", std::to_string(rate.tflops));
  EXPECT_GT(rate.tflops, 0.35 * peak_tflops);
  EXPECT_LT(rate.tflops, 1.02 * peak_tflops);
}

TEST_P(DenseProducts, ReadsBesideThemReachAGoodPartOfTheBandwidth) {
  DeviceLimits device = limits();
  device.free_memory_bytes = device.total_memory_bytes;
  const std::optional<MemoryRate> rate = measure_memory_rate(kernel(), device);
  ASSERT_TRUE(rate);
  RecordProperty("read_gb_per_s", std::to_string(rate->read_gb_per_s));
  EXPECT_GT(rate->read_gb_per_s, 0.6 * device.memory_gbps);
  EXPECT_LT(rate->read_gb_per_s, 1.02 * device.memory_gbps);
}

TEST_P(DenseProducts, CostLessThanATenthOfASecond) {
  const Artifact artifact = kernel();
  static_cast<void>(measure_matmul_rate(artifact, limits(), nullptr));
  const auto start = std::chrono::steady_clock::now();
  const MatmulRate rate = measure_matmul_rate(artifact, limits(), nullptr);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  EXPECT_LT(took.count(), 0.1) << rate.tflops << " TFLOP/s";
}

INSTANTIATE_TEST_SUITE_P(Types, DenseProducts, testing::Values(DType::fp16, DType::bf16),
                         [](const auto& tested) { return std::string(dtype_name(tested.param)); });

}  // namespace
}  // namespace fatune
