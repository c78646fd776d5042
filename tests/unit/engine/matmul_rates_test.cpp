
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "engine/verifying_kernels.hpp"
#include "measure/measurement_module.hpp"

namespace fatune {
namespace {

const std::vector<Problem> kProblems{{1, 128, 1, 64, DType::fp16, false},
                                     {2, 256, 1, 128, DType::fp16, true},
                                     {1, 128, 1, 64, DType::bf16, false}};

/// The measured rates are 1, 2, ... TFLOP/s, in the order of measurement.
class RatesByTypeTest : public testing::Test {
 protected:
  /// Sources that compile quickly, in place of the real ones.
  static RatesSetup setup(const std::string& text =
                              "extern \"C\" __global__ void "
                              "fatune_matmul_rate(int* x) { *x = 1; }") {
    auto bundle = std::make_shared<SourceBundle>();
    bundle->main = {matmul_source_names().front(), text};
    return {bundle, Arch{90, '\0'}, nullptr};
  }
  RatesByType::Measure count() {
    return [this](const Artifact& kernel) {
      EXPECT_FALSE(kernel.cubin.empty());
      ++measured_;
      return DeviceRates{{static_cast<double>(measured_), 1900.0}, MemoryRate{3000.0}};
    };
  }

  int measured_ = 0;
};

TEST_F(RatesByTypeTest, AreMeasuredOnceForEachType) {
  RatesByType rates(setup(), kProblems, count());
  EXPECT_EQ(rates.of(DType::fp16)->matmul.tflops, 1.0);
  EXPECT_EQ(rates.of(DType::bf16)->matmul.tflops, 2.0);
  EXPECT_EQ(rates.of(DType::fp16)->matmul.tflops, 1.0);
  EXPECT_EQ(measured_, 2);
}

TEST_F(RatesByTypeTest, OldOnesAreMeasuredAnew) {
  RatesByType rates(setup(), kProblems, count(), RatesByType::Clock::duration::zero());
  EXPECT_EQ(rates.of(DType::fp16)->matmul.tflops, 1.0);
  EXPECT_EQ(rates.of(DType::fp16)->matmul.tflops, 2.0);
}

TEST_F(RatesByTypeTest, WithoutSourcesThereAreNone) {
  RatesByType rates({}, kProblems, count());
  EXPECT_FALSE(rates.of(DType::fp16));
  EXPECT_EQ(measured_, 0);
}

TEST_F(RatesByTypeTest, WhatFailsIsNotTriedAgain) {
  int tried = 0;
  RatesByType rates(setup(), kProblems, [&](const Artifact&) -> DeviceRates {
    ++tried;
    throw Error(ExitCode::gpu_failure, "no tensor cores");
  });
  EXPECT_FALSE(rates.of(DType::fp16));
  EXPECT_FALSE(rates.of(DType::fp16));
  EXPECT_EQ(tried, 1);
}

TEST_F(RatesByTypeTest, AKernelThatDoesNotCompileIsNoError) {
  RatesByType rates(setup("this is no source"), kProblems, count());
  EXPECT_FALSE(rates.of(DType::fp16));
  EXPECT_EQ(measured_, 0);
}

TEST_F(RatesByTypeTest, ReadAllOfTheirSources) {
  const auto bundle = read_kernel_sources(FileTree(), matmul_source_names());
  EXPECT_EQ(bundle->main.name, matmul_source_names().front());
  EXPECT_EQ(bundle->headers.size() + 1, matmul_source_names().size());
}

}  // namespace
}  // namespace fatune
