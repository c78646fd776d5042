#pragma once

#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "reference/matmul_rate_args.h"

namespace fatune {

/// Expects `sums`, from the kernel that measures the rate of dense products, to be `products` times
/// the product of its operands.
inline void expect_matmul_sums(const std::vector<float>& sums, int products,
                               const std::vector<double>& a, const std::vector<double>& b) {
  constexpr double kMost = 1e-4;  // error of each product; fp32 sums of numbers up to about 30
  for (int row = 0; row < kMatmulRows; ++row) {
    for (int column = 0; column < kMatmulColumns; ++column) {
      const auto of_a = a.begin() + std::ptrdiff_t{row} * kMatmulDepth;
      const auto of_b = b.begin() + std::ptrdiff_t{column} * kMatmulDepth;
      const double expected = products * std::inner_product(of_a, of_a + kMatmulDepth, of_b, 0.0);
      const auto at = static_cast<std::size_t>(row * kMatmulColumns + column);
      ASSERT_NEAR(sums[at], expected, kMost * products) << row << ", " << column;
    }
  }
}

}  // namespace fatune
