// Runs the products of product_kernel.hpp on this machine's GPU. The layouts of TMA and of wgmma's
// descriptors that the emulator assumes must be those of Hopper.
#include <cuda.h>
#include <dlfcn.h>

#include <cstring>
#include <optional>
#include <span>

#include <gtest/gtest.h>

#include "gpu/context.hpp"
#include "gpu/driver.hpp"
#include "gpu/module.hpp"
#include "hopper_kernels/product_kernel.hpp"
#include "unit/emulator/emulated_kernel.hpp"

namespace fatune::hopper {
namespace {

constexpr int kHopper = 90;

CUtensorMapDataType driver_type(emulate::Factor type) {
  return emulate::is_fp8(type)           ? CU_TENSOR_MAP_DATA_TYPE_UINT8
         : type == emulate::Factor::bf16 ? CU_TENSOR_MAP_DATA_TYPE_BFLOAT16
                                         : CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
}

/// The driver's own tensor map.
std::optional<CUtensorMap> driver_map(const emulate::TensorMap& map, emulate::Factor type) {
  void* const library = dlopen("libcuda.so.1", RTLD_LAZY);
  using Encode = decltype(&cuTensorMapEncodeTiled);
  const auto encode = reinterpret_cast<Encode>(
      library == nullptr ? nullptr : dlsym(library, "cuTensorMapEncodeTiled"));
  if (encode == nullptr) {
    return std::nullopt;
  }
  constexpr std::array kSwizzles{CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_SWIZZLE_32B,
                                 CU_TENSOR_MAP_SWIZZLE_64B, CU_TENSOR_MAP_SWIZZLE_128B};
  const std::array<cuuint32_t, 5> steps{1, 1, 1, 1, 1};
  CUtensorMap encoded;
  const CUresult result =
      encode(&encoded, driver_type(type), map.rank,
             reinterpret_cast<void*>(map.address),  // NOLINT(performance-no-int-to-ptr)
             map.sizes.data(), map.strides.data() + 1, map.box.data(), steps.data(),
             CU_TENSOR_MAP_INTERLEAVE_NONE, kSwizzles[static_cast<std::size_t>(map.swizzle)],
             CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  return result == CUDA_SUCCESS ? std::optional(encoded) : std::nullopt;
}

class GpuProducts : public testing::TestWithParam<ProductCase> {
 protected:
  void SetUp() override {
    if (const gpu::DriverStatus& driver = gpu::probe_driver(); !driver.usable()) {
      GTEST_SKIP() << "no GPU: " << driver.problem;
    }
    const gpu::Device device = gpu::describe_device(0);
    if (!device.usable() || device.limits.arch.sm != kHopper) {
      GTEST_SKIP() << device.limits.name << " has no wgmma";
    }
    context_.emplace(0);
  }

 private:
  std::optional<gpu::Context> context_;
};

/// The values that the kernel stores on the GPU.
std::vector<std::uint32_t> sums_of_gpu(const ProductCase& c) {
  const std::string text = product_kernel(c);
  const gpu::Module module(std::span<const char>(text.c_str(), text.size() + 1));
  const gpu::Stream stream;
  std::vector<std::uint32_t> sums(std::size_t{kThreads} * sums_of(c));
  const gpu::DeviceBuffer in(kInputBytes);
  const gpu::DeviceBuffer out(static_cast<std::int64_t>(sums.size() * 4));
  std::vector<std::uint8_t> input(kInputBytes);
  const auto maps = product_maps(c, in.address());
  for (std::size_t i = 0; i < maps.size(); ++i) {
    const auto map = driver_map(maps[i], i == 0 ? c.a : c.b);
    if (!map) {
      ADD_FAILURE() << "cuTensorMapEncodeTiled refuses map " << i;
      return {};
    }
    std::memcpy(input.data() + (i == 0 ? kMapA : kMapB), &*map, sizeof(*map));
  }
  const std::vector<std::uint8_t> data = product_data(c);
  std::memcpy(input.data() + kDataA, data.data(), data.size());
  gpu::copy_to_device_async(in.address(), input.data(), in.bytes(), stream);
  gpu::fill_words_async(out.address(), 0xffffffff, out.bytes() / 4, stream);
  LaunchGeometry geometry;
  geometry.grid = {1, 1, 1};
  geometry.block = {kThreads, 1, 1};
  gpu::launch_with(module.function("k"), geometry, stream, in.address(), out.address());
  gpu::copy_to_host_async(sums.data(), out.address(), out.bytes(), stream);
  stream.synchronize();
  return sums;
}

std::vector<std::uint32_t> sums_of_emulator(const ProductCase& c) {
  emulate::Trial trial;
  trial.threads = kThreads;
  trial.input.resize(kInputBytes);
  trial.output_bytes = std::size_t{kThreads} * sums_of(c) * 4;
  const auto maps = product_maps(c, emulate::input_address());
  const auto put = [&](std::uint32_t to, const auto& bytes) {
    std::memcpy(trial.input.data() + to, bytes.data(), bytes.size());
  };
  put(kMapA, emulate::encode_tensor_map(maps[0]));
  put(kMapB, emulate::encode_tensor_map(maps[1]));
  put(kDataA, product_data(c));
  const emulate::Emulated done = emulate::emulate(product_kernel(c), trial);
  std::vector<std::uint32_t> sums(done.output.size() / 4);
  std::memcpy(sums.data(), done.output.data(), done.output.size());
  return sums;
}

TEST_P(GpuProducts, AreWhatTheEmulatorTakesThemFor) {
  EXPECT_EQ(sums_of_gpu(GetParam()), expected_sums(GetParam()));
}

class GpuRandomProducts : public GpuProducts {};

TEST_P(GpuRandomProducts, AreRoundedAsTheEmulatorRoundsThem) {
  EXPECT_EQ(sums_of_gpu(GetParam()), sums_of_emulator(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(All, GpuRandomProducts, testing::ValuesIn(random_product_cases()),
                         [](const auto& c) { return c.param.name(); });
INSTANTIATE_TEST_SUITE_P(Fp8, GpuProducts, testing::ValuesIn(fp8_product_cases()),
                         [](const auto& c) { return c.param.name(); });
INSTANTIATE_TEST_SUITE_P(All, GpuProducts, testing::ValuesIn(product_cases()),
                         [](const auto& c) { return c.param.name(); });

}  // namespace
}  // namespace fatune::hopper
