#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "emulator/values/floats.hpp"

namespace fatune::emulate {
namespace {

constexpr double kInfiniteDouble = std::numeric_limits<double>::infinity();

TEST(Rounding, OfAValueBetweenTwoNumbers) {
  constexpr double kBetween = 1.0 + 0x1.8p-11;  // three quarters of the way from 1 to the next half
  EXPECT_EQ(narrowed(kBetween, kHalfFormat, Rounding::nearest), 0x3c01U);
  EXPECT_EQ(narrowed(kBetween, kHalfFormat, Rounding::zero), 0x3c00U);
  EXPECT_EQ(narrowed(kBetween, kHalfFormat, Rounding::down), 0x3c00U);
  EXPECT_EQ(narrowed(kBetween, kHalfFormat, Rounding::up), 0x3c01U);
  EXPECT_EQ(narrowed(-kBetween, kHalfFormat, Rounding::zero), 0xbc00U);
  EXPECT_EQ(narrowed(-kBetween, kHalfFormat, Rounding::down), 0xbc01U);
  EXPECT_EQ(narrowed(-kBetween, kHalfFormat, Rounding::up), 0xbc00U);
}

TEST(Rounding, OfTies) {
  EXPECT_EQ(narrowed(1.0 + 0x1p-11, kHalfFormat, Rounding::nearest), 0x3c00U);
  EXPECT_EQ(narrowed(1.0 + 0x1.8p-10, kHalfFormat, Rounding::nearest), 0x3c02U);
  EXPECT_EQ(narrowed(1.0 + 0x1p-11, kHalfFormat, Rounding::nearest_away), 0x3c01U);
  EXPECT_EQ(narrowed(0x1p-25, kHalfFormat, Rounding::nearest), 0U);
  EXPECT_EQ(narrowed(0x1.0000001p-25, kHalfFormat, Rounding::nearest), 1U);
}

TEST(Rounding, BeyondTheGreatestNumber) {
  EXPECT_EQ(narrowed(65519.99, kHalfFormat, Rounding::nearest), 0x7bffU);
  EXPECT_EQ(narrowed(65520.0, kHalfFormat, Rounding::nearest), 0x7c00U);
  EXPECT_EQ(narrowed(1e300, kHalfFormat, Rounding::zero), 0x7bffU);
  EXPECT_EQ(narrowed(1e300, kHalfFormat, Rounding::down), 0x7bffU);
  EXPECT_EQ(narrowed(-1e300, kHalfFormat, Rounding::down), 0xfc00U);
  EXPECT_EQ(narrowed(-1e300, kHalfFormat, Rounding::up), 0xfbffU);
  EXPECT_EQ(narrowed(kInfiniteDouble, kHalfFormat, Rounding::zero), 0x7c00U);
  EXPECT_EQ(narrowed(std::nan(""), kBfloatFormat, Rounding::nearest), 0x7fffU);
}

TEST(Rounding, GivesEveryHalfBack) {
  for (std::uint32_t bits = 0; bits < 0x7c00U; ++bits) {
    const auto value = static_cast<double>(from_half(static_cast<std::uint16_t>(bits)));
    ASSERT_EQ(narrowed(value, kHalfFormat, Rounding::up), bits);
    ASSERT_EQ(narrowed(-value, kHalfFormat, Rounding::nearest), bits | 0x8000U);
  }
}

TEST(Rounding, ToSingleIsTheMachines) {
  for (const double value :
       {0.1, 1.0 / 3.0, 0x1p-150, 0x1.8p-149, 0x1.fffffffp-127, 3e38, 3.5e38}) {
    EXPECT_EQ(narrowed(value, kSingleFormat, Rounding::nearest),
              std::bit_cast<std::uint32_t>(static_cast<float>(value)));
  }
}

TEST(Rounding, OfASumThatIsRoundedTwice) {
  // Rounded to nearest, the sum would be 1 + 2^-11, a tie, and would then round down.
  constexpr double kTie = 1.0 + 0x1p-11;
  EXPECT_EQ(narrowed(kTie + 0x1p-70, kHalfFormat, Rounding::nearest), 0x3c00U);
  EXPECT_EQ(narrowed(odd_sum(kTie, 0x1p-70), kHalfFormat, Rounding::nearest), 0x3c01U);
  EXPECT_EQ(narrowed(odd_sum(kTie, -0x1p-70), kHalfFormat, Rounding::nearest), 0x3c00U);
  EXPECT_EQ(narrowed(odd_sum(-kTie, -0x1p-70), kHalfFormat, Rounding::nearest), 0xbc01U);
  EXPECT_EQ(odd_sum(1.0, 2.0), 3.0);
  EXPECT_EQ(odd_sum(kInfiniteDouble, 1.0), kInfiniteDouble);
}

TEST(Rounding, OfIntegersThatADoubleCannotHold) {
  constexpr std::uint64_t kLarge = (std::uint64_t{1} << 63U) + 1;
  EXPECT_EQ(odd_double(5), 5.0);
  EXPECT_EQ(odd_double(kLarge), 0x1p63 + 0x1p11);  // the last bit says that bits were cut off
  EXPECT_EQ(narrowed(odd_double(kLarge), kSingleFormat, Rounding::up),
            std::bit_cast<std::uint32_t>(0x1.000002p63F));
}

}  // namespace
}  // namespace fatune::emulate
