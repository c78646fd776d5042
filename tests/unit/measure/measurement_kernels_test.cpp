#include "measure/measurement_module.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>

#include "base/error.hpp"
#include "gpu/context.hpp"
#include "measure/tensors.hpp"
#include "unit/gpu/fake_driver.hpp"
#include "unit/measure/host_gpu.hpp"
#include "unit/measure/kernel_sources.hpp"

namespace fatune {
namespace {

using ::testing::HasSubstr;

struct Target {
  DType dtype;
  std::int64_t d_head;
  Arch arch;
};

void PrintTo(const Target& target, std::ostream* out) {
  *out << dtype_name(target.dtype) << " d" << target.d_head << ' ' << arch_name(target.arch);
}

class MeasurementKernels : public ::testing::TestWithParam<Target> {};

// The listed sources suffice on every supported GPU generation.
TEST_P(MeasurementKernels, CompileFromTheListedSourcesAlone) {
  const auto& [dtype, d_head, arch] = GetParam();
  const Artifact artifact = compile_or_throw(
      measurement_request(read_measurement_sources(), {1, 1, 1, d_head, dtype, false}, arch));
  EXPECT_FALSE(artifact.cubin.empty());
  EXPECT_EQ(artifact.facts.spill_store_bytes, 0) << artifact.log;
  EXPECT_EQ(artifact.lowered_name, "fatune_reference_attention");
}

INSTANTIATE_TEST_SUITE_P(Targets, MeasurementKernels,
                         ::testing::Values(Target{DType::fp16, 128, {80, '\0'}},
                                           Target{DType::bf16, 64, {90, 'a'}},
                                           Target{DType::bf16, 40, {89, '\0'}}));

TEST(MeasurementRequest, RefusesHeadDimensionsItCannotRead) {
  for (const std::int64_t d_head : {4, 12, 584}) {
    try {
      static_cast<void>(
          measurement_request(nullptr, {1, 1, 1, d_head, DType::fp16, false}, Arch{90, '\0'}));
      FAIL() << d_head;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::usage);
      EXPECT_THAT(error.what(), HasSubstr("multiple of 8"));
    }
  }
}

TEST(MeasurementRequest, DependsOnTypeAndHeadDimensionOnly) {
  const Arch arch{90, '\0'};
  const auto defines = [&](const Problem& problem) {
    return measurement_request(nullptr, problem, arch).defines;
  };
  EXPECT_EQ(defines({1, 64, 2, 128, DType::fp16, false}),
            defines({4, 512, 16, 128, DType::fp16, true}));
  EXPECT_NE(defines({1, 64, 2, 128, DType::fp16, false}),
            defines({1, 64, 2, 128, DType::bf16, false}));
  EXPECT_NE(defines({1, 64, 2, 128, DType::fp16, false}),
            defines({1, 64, 2, 64, DType::fp16, false}));
}

TEST(MeasurementRequest, OfEightBitsHasTheTypeOfO) {
  const Problem eight = changed({1, 64, 2, 64}, [](Problem& p) { p.dtype = DType::e4m3; });
  const auto defines = measurement_request(nullptr, eight, {90, '\0'}).defines;
  const auto of = [&](const std::string& name) {
    const auto found = std::ranges::find(defines, name, [](const auto& one) { return one.first; });
    return found == defines.end() ? std::string() : found->second;
  };
  EXPECT_EQ(of("FATUNE_IS_BF16"), "true");
  EXPECT_EQ(of("FATUNE_KV_DTYPE"), "24");
  EXPECT_EQ(of("FATUNE_EIGHT_BIT_QUERIES"), "1");
}

// Eight queries see four million keys.
class GridsOfFewQueries : public gpu::FakeDriverTest {
 protected:
  static constexpr unsigned kWholeGpu = 1000;  // blocks
  static constexpr unsigned long long kQueries = 8;
  static constexpr unsigned long long kKeys = 4'000'000;
  static constexpr unsigned long long kHeadDim = 128;

  static Problem problem() {
    Problem problem{1, 1, kQueries, kHeadDim, DType::bf16, false};
    problem.kv_heads = 1;
    problem.seq_len_kv = kKeys;
    return problem;
  }

  struct Device {
    gpu::Context context{0};
    gpu::Stream stream;
    MeasurementModule kernels{HostGpu::measurement_kernels()};
  };
};

TEST_F(GridsOfFewQueries, FillKeysWithTheWholeGpu) {
  const Device device;
  const auto view = [](TensorRole role) { return tensor_view(problem(), role, nullptr); };
  device.kernels.fill_inputs(
      {view(TensorRole::q), view(TensorRole::k), view(TensorRole::v), 1, 0, 0, nullptr, {}},
      device.stream);
  EXPECT_GT(gpu::FakeDriver::grid()[0], kWholeGpu);
  EXPECT_EQ(gpu::FakeDriver::grid()[1], 3U);
}

TEST_F(GridsOfFewQueries, SumKeysWithTheWholeGpu) {
  const Device device;
  device.kernels.sum_inputs(
      {{}, {}, {}, {kQueries * kHeadDim, kKeys * kHeadDim, kKeys * kHeadDim}, {}}, device.stream);
  EXPECT_GT(gpu::FakeDriver::grid()[0], kWholeGpu);
  EXPECT_EQ(gpu::FakeDriver::grid()[1], 3U);
}

TEST_F(GridsOfFewQueries, FindNormsOfKeysWithTheWholeGpu) {
  const Device device;
  device.kernels.find_greatest_norms({{}, {}, {}, {}, {kQueries, kKeys}, {}}, device.stream);
  EXPECT_GT(gpu::FakeDriver::grid()[0], kWholeGpu);
  EXPECT_EQ(gpu::FakeDriver::grid()[1], 2U);
}

}  // namespace
}  // namespace fatune
