
#include <gtest/gtest.h>

#include "core/error.hpp"
#include "engine/verifying_kernels.hpp"
#include "measure/measurement_module.hpp"

namespace fatune {
namespace {

const std::vector<Problem> kProblems{{1, 128, 1, 64, DType::fp16, false},
                                     {2, 256, 1, 128, DType::fp16, true},
                                     {1, 128, 1, 64, DType::bf16, false}};

/// The measured rates are 1, 2, ... TFLOP/s, in the order of measurement.
class MatmulRatesTest : public testing::Test {
 protected:
  /// Sources that compile quickly, in place of the real ones.
  static MatmulSetup setup(const std::string& text =
                               "extern \"C\" __global__ void "
                               "fatune_matmul_rate(int* x) { *x = 1; }") {
    auto bundle = std::make_shared<SourceBundle>();
    bundle->main = {matmul_source_names().front(), text};
    return {bundle, Arch{90, '\0'}, nullptr};
  }
  MatmulRates::Measure count() {
    return [this](const Artifact& kernel) {
      EXPECT_FALSE(kernel.cubin.empty());
      ++measured_;
      return MatmulRate{static_cast<double>(measured_), 1900.0};
    };
  }

  int measured_ = 0;
};

TEST_F(MatmulRatesTest, AreMeasuredOnceForEachType) {
  MatmulRates rates(setup(), kProblems, count());
  EXPECT_EQ(rates.of(DType::fp16)->tflops, 1.0);
  EXPECT_EQ(rates.of(DType::bf16)->tflops, 2.0);
  EXPECT_EQ(rates.of(DType::fp16)->tflops, 1.0);
  EXPECT_EQ(measured_, 2);
}

TEST_F(MatmulRatesTest, OldOnesAreMeasuredAnew) {
  MatmulRates rates(setup(), kProblems, count(), MatmulRates::Clock::duration::zero());
  EXPECT_EQ(rates.of(DType::fp16)->tflops, 1.0);
  EXPECT_EQ(rates.of(DType::fp16)->tflops, 2.0);
}

TEST_F(MatmulRatesTest, WithoutSourcesThereAreNone) {
  MatmulRates rates({}, kProblems, count());
  EXPECT_FALSE(rates.of(DType::fp16));
  EXPECT_EQ(measured_, 0);
}

TEST_F(MatmulRatesTest, WhatFailsIsNotTriedAgain) {
  int tried = 0;
  MatmulRates rates(setup(), kProblems, [&](const Artifact&) -> MatmulRate {
    ++tried;
    throw Error(ExitCode::gpu_failure, "no tensor cores");
  });
  EXPECT_FALSE(rates.of(DType::fp16));
  EXPECT_FALSE(rates.of(DType::fp16));
  EXPECT_EQ(tried, 1);
}

TEST_F(MatmulRatesTest, AKernelThatDoesNotCompileIsNoError) {
  MatmulRates rates(setup("this is no source"), kProblems, count());
  EXPECT_FALSE(rates.of(DType::fp16));
  EXPECT_EQ(measured_, 0);
}

TEST_F(MatmulRatesTest, ReadAllOfTheirSources) {
  const auto bundle = read_matmul_sources(FileTree());
  EXPECT_EQ(bundle->main.name, matmul_source_names().front());
  EXPECT_EQ(bundle->headers.size() + 1, matmul_source_names().size());
}

}  // namespace
}  // namespace fatune
