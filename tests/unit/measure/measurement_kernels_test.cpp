#include "measure/measurement_module.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>

#include "core/error.hpp"
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
  for (const std::int64_t d_head : {4, 12, 264}) {
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

}  // namespace
}  // namespace fatune
