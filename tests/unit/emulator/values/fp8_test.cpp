#include "emulator/values/fp8.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "emulator/values/floats.hpp"

namespace fatune::emulate {
namespace {

double value_of(std::uint8_t bits, Fp8 format) {
  return static_cast<double>(from_half(half_of(bits, format)));
}

/// Computes the value of a finite number from its sign, its exponent and its fraction.
double value_of_fields(std::uint8_t bits, int fraction_bits, int bias) {
  const int magnitude = bits & 0x7f;
  const int exponent = magnitude >> fraction_bits;
  const int fraction = magnitude - (exponent << fraction_bits);
  const int whole = exponent == 0 ? fraction : fraction + (1 << fraction_bits);
  const double value = std::ldexp(whole, std::max(exponent, 1) - bias - fraction_bits);
  return (bits & 0x80) != 0 ? -value : value;
}

void expect_value(std::uint32_t bits, Fp8 format, double expected) {
  const auto byte = static_cast<std::uint8_t>(bits);
  const double value = value_of(byte, format);
  ASSERT_EQ(value, expected) << bits;
  ASSERT_EQ(std::signbit(value), std::signbit(expected)) << bits;
  ASSERT_EQ(to_fp8(value, format), byte);
}

TEST(Fp8, E4m3HasOneNanAndNoInfinities) {
  for (std::uint32_t bits = 0; bits < 256; ++bits) {
    if ((bits & 0x7fU) == 0x7f) {
      ASSERT_TRUE(std::isnan(value_of(static_cast<std::uint8_t>(bits), Fp8::e4m3)));
    } else {
      expect_value(bits, Fp8::e4m3, value_of_fields(static_cast<std::uint8_t>(bits), 3, 7));
    }
  }
  EXPECT_EQ(value_of(0x7e, Fp8::e4m3), 448.0);
  EXPECT_EQ(value_of(0x01, Fp8::e4m3), 0x1p-9);
}

TEST(Fp8, E5m2IsTheUpperByteOfAHalf) {
  for (std::uint32_t bits = 0; bits < 256; ++bits) {
    if ((bits & 0x7fU) < 0x7c) {
      expect_value(bits, Fp8::e5m2, value_of_fields(static_cast<std::uint8_t>(bits), 2, 15));
    }
  }
  EXPECT_EQ(value_of(0x7c, Fp8::e5m2), std::numeric_limits<double>::infinity());
  EXPECT_EQ(value_of(0xfc, Fp8::e5m2), -std::numeric_limits<double>::infinity());
  for (const std::uint8_t nan : std::array<std::uint8_t, 4>{0x7d, 0x7e, 0x7f, 0xff}) {
    EXPECT_TRUE(std::isnan(value_of(nan, Fp8::e5m2))) << int{nan};
  }
}

TEST(Fp8, RoundsToNearestEvenAndNeverToInfinity) {
  EXPECT_EQ(to_fp8(1.0625, Fp8::e4m3), 0x38);  // between 1 and 1.125
  EXPECT_EQ(to_fp8(1.1875, Fp8::e4m3), 0x3a);  // between 1.125 and 1.25
  EXPECT_EQ(to_fp8(0x1p-10, Fp8::e4m3), 0x00);
  EXPECT_EQ(to_fp8(1e30, Fp8::e4m3), 0x7e);
  EXPECT_EQ(to_fp8(-std::numeric_limits<double>::infinity(), Fp8::e5m2), 0xfb);
  EXPECT_EQ(to_fp8(-std::nan(""), Fp8::e5m2), 0x7f);
}

}  // namespace
}  // namespace fatune::emulate
