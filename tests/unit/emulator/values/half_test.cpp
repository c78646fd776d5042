#include "emulator/values/floats.hpp"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace fatune::emulate {
namespace {

/// Computes the value of a half from its sign, 5 bits of exponent and 10 bits of fraction.
double half_value(std::uint16_t bits) {
  const int exponent = bits >> 10U & 31;
  const int fraction = bits & 1023;
  const double sign = (bits & 0x8000U) != 0 ? -1.0 : 1.0;
  return exponent == 0 ? sign * std::ldexp(fraction, -24)
                       : sign * std::ldexp(1024 + fraction, exponent - 25);
}

bool is_finite(std::uint16_t bits) { return (bits & 0x7c00U) != 0x7c00U; }

TEST(Half, AllValuesAreReadAndWrittenBack) {
  for (std::uint32_t i = 0; i < 65536; ++i) {
    const auto bits = static_cast<std::uint16_t>(i);
    if (is_finite(bits)) {
      ASSERT_EQ(static_cast<double>(from_half(bits)), half_value(bits)) << bits;
      ASSERT_EQ(to_half(from_half(bits)), bits);
    } else {
      ASSERT_EQ(std::isnan(from_half(bits)), (bits & 0x3ffU) != 0) << bits;
    }
  }
  EXPECT_EQ(to_half(from_half(0xfc00)), 0xfc00);
  EXPECT_EQ(to_half(std::numeric_limits<float>::quiet_NaN()), 0x7fff);
}

/// The tie between two neighbours rounds to the even one, and values beside it to the nearer one.
TEST(Half, RoundsToNearestAndTiesToEven) {
  for (std::uint32_t i = 0; i < 0x7bff; ++i) {
    const auto low = static_cast<std::uint16_t>(i);
    const auto high = static_cast<std::uint16_t>(i + 1);
    const auto tie = static_cast<float>((half_value(low) + half_value(high)) / 2);
    ASSERT_EQ(to_half(tie), (i & 1U) == 0 ? low : high) << i;
    ASSERT_EQ(to_half(std::nextafter(tie, 0.0F)), low) << i;
    ASSERT_EQ(to_half(std::nextafter(tie, 1e9F)), high) << i;
    ASSERT_EQ(to_half(-tie), to_half(tie) | 0x8000U) << i;
  }
}

TEST(Half, OverflowsToInfinity) {
  EXPECT_EQ(to_half(std::nextafter(65520.0F, 0.0F)), 0x7bff);
  EXPECT_EQ(to_half(65520.0F), 0x7c00);
  EXPECT_EQ(to_half(-1e30F), 0xfc00);
}

TEST(Bfloat, RoundsToNearestAndTiesToEven) {
  for (std::uint32_t i = 0; i < 0x7f80; ++i) {
    const std::uint32_t tie = i << 16U | 0x8000U;
    ASSERT_EQ(to_bfloat(std::bit_cast<float>(tie - 1)), i);
    ASSERT_EQ(to_bfloat(std::bit_cast<float>(tie)), i + (i & 1U));
    ASSERT_EQ(to_bfloat(std::bit_cast<float>(tie + 1)), i + 1);
    ASSERT_EQ(to_bfloat(from_bfloat(static_cast<std::uint16_t>(i))), i);
  }
  EXPECT_EQ(to_bfloat(std::numeric_limits<float>::infinity()), 0x7f80);
  EXPECT_EQ(to_bfloat(std::numeric_limits<float>::quiet_NaN()), 0x7fff);
}

}  // namespace
}  // namespace fatune::emulate
