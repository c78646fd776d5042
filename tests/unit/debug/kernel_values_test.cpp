#include "debug/kernel_values.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "attention/cpu_reference.hpp"

namespace fatune {
namespace {

// 2 rows, 2 keys, 1 tile.
const HeadProblem kHead{2, 8, DType::bf16, false, {2, 2, StepOrder::first_to_last, 0.0}};
constexpr std::size_t kScores = 4;
constexpr std::size_t kRows = 2;
constexpr std::size_t kOutput = 16;

TEST(KernelValues, TensorsStandOneAfterTheOther) {
  const std::size_t size = 2 * kScores + 2 * kRows + kOutput;
  std::vector<float> dump(size);
  for (std::size_t i = 0; i < size; ++i) {
    dump[i] = static_cast<float>(i);
  }
  dump[1] = std::numeric_limits<float>::quiet_NaN();
  const std::vector<std::uint16_t> output(kOutput, round_to_element(1.5, DType::bf16));
  const KernelValues kernel = read_kernel_values(kHead, output, dump);
  EXPECT_TRUE(kernel.has_steps);
  EXPECT_EQ(kernel.values.s[0], 0.0);
  EXPECT_TRUE(std::isnan(kernel.values.s[1]));
  EXPECT_EQ(kernel.values.p[0], 4.0);
  EXPECT_EQ(kernel.values.m[0], 8.0);
  EXPECT_EQ(kernel.values.l[0], 10.0);
  EXPECT_EQ(kernel.values.o.back(), 27.0);
  EXPECT_EQ(kernel.values.output.back(), 1.5);
}

TEST(KernelValues, WithoutIntermediatesTheyAreNotNumbers) {
  const std::vector<std::uint16_t> output(kOutput);
  const KernelValues kernel = read_kernel_values(kHead, output, {});
  EXPECT_FALSE(kernel.has_steps);
  EXPECT_TRUE(std::isnan(kernel.values.s[0]));
}

TEST(KernelValues, ThoseOfAnotherHeadAreRefused) {
  const std::vector<std::uint16_t> output(kOutput);
  const std::vector<float> dump(3);
  EXPECT_THROW((void)read_kernel_values(kHead, output, dump), std::logic_error);
}

}  // namespace
}  // namespace fatune
