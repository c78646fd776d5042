#include "runtime/expression_math.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <random>

namespace fatune {
namespace {

using fatune_attention::math::ceil_log2;
using fatune_attention::math::umulhi_magic;

/// Divides as a kernel does, with __umulhi and a shift.
std::uint32_t divide(std::uint32_t n, std::uint32_t d) {
  const auto magic = static_cast<std::uint64_t>(umulhi_magic(d));
  const auto shift = static_cast<unsigned>(ceil_log2(d)) - 1;
  return static_cast<std::uint32_t>((n * magic) >> 32U) >> shift;
}

TEST(FastDivision, CeilLog2) {
  EXPECT_EQ(ceil_log2(1), 0);
  EXPECT_EQ(ceil_log2(2), 1);
  EXPECT_EQ(ceil_log2(3), 2);
  EXPECT_EQ(ceil_log2(1024), 10);
  EXPECT_EQ(ceil_log2(1025), 11);
  for (const double bad : {0.0, -1.0, 0.5, HUGE_VAL, std::nan("")}) {
    EXPECT_TRUE(std::isnan(ceil_log2(bad))) << bad;
  }
}

TEST(FastDivision, QuotientsAreThoseOfTheDivision) {
  constexpr std::uint32_t kLargest = 2147483647;
  std::mt19937 random(7);
  for (int i = 0; i < 20000; ++i) {
    const auto wide = static_cast<std::uint32_t>(random()) >> (i % 31);
    const std::uint32_t d = i < 1000 ? static_cast<std::uint32_t>(i) + 2 : wide / 2 + 2;
    const std::uint32_t multiple = kLargest / d * d;
    for (const std::uint32_t n : {0U, d - 1, d, multiple - 1, multiple, kLargest,
                                  static_cast<std::uint32_t>(random() >> 1)}) {
      if (n <= kLargest) {
        ASSERT_EQ(divide(n, d), n / d) << n << " / " << d;
      }
    }
  }
}

TEST(FastDivision, DivisorsOutsideTheRangeHaveNone) {
  EXPECT_EQ(umulhi_magic(1), 0.0);
  EXPECT_EQ(umulhi_magic(2147483648.0), 2147483648.0);
  for (const double bad : {0.0, -3.0, 1.5, 2147483649.0, HUGE_VAL, std::nan("")}) {
    EXPECT_TRUE(std::isnan(umulhi_magic(bad))) << bad;
  }
}

}  // namespace
}  // namespace fatune
