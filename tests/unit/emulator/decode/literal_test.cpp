#include "emulator/decode/names.hpp"

#include <bit>

#include <gtest/gtest.h>

namespace fatune::emulate {
namespace {

using enum ScalarType;

TEST(Literal, Integers) {
  EXPECT_EQ(literal_bits("17", u32), 17U);
  EXPECT_EQ(literal_bits("-16", s64), static_cast<std::uint64_t>(-16));
  EXPECT_EQ(literal_bits("0x1F", u32), 31U);
  EXPECT_EQ(literal_bits("-0x10", s64), static_cast<std::uint64_t>(-16));
  EXPECT_EQ(literal_bits("0b101", u32), 5U);
  EXPECT_EQ(literal_bits("017", u32), 15U);
  EXPECT_EQ(literal_bits("0U", u32), 0U);
  EXPECT_EQ(literal_bits("18446744073709551615", u64), ~std::uint64_t{0});
}

TEST(Literal, Floats) {
  EXPECT_EQ(literal_bits("0f3F800000", f32), 0x3f800000U);
  EXPECT_EQ(literal_bits("0f3F800000", f64), std::bit_cast<std::uint64_t>(1.0));
  EXPECT_EQ(literal_bits("0d3FF8000000000000", f64), std::bit_cast<std::uint64_t>(1.5));
  EXPECT_EQ(literal_bits("0d3FF8000000000000", f32), std::bit_cast<std::uint32_t>(1.5F));
  EXPECT_EQ(literal_bits("-1.5", f32), std::bit_cast<std::uint32_t>(-1.5F));
  EXPECT_EQ(literal_bits("2", f32), std::bit_cast<std::uint32_t>(2.0F));
}

TEST(Literal, NothingForAnythingElse) {
  for (const char* text : {"", "-", "%r1", "tile", "0x", "0f", "12a", "089", "1.5x", "0fXYZ",
                           "18446744073709551616", "_"}) {
    EXPECT_FALSE(literal_bits(text, u64)) << text;
  }
}

}  // namespace
}  // namespace fatune::emulate
