#include "emulator/values/matrix_product.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "emulator/values/floats.hpp"

namespace fatune::emulate {
namespace {

/// Computes c + the sum of a[k] b[k], in row 0 and column 0 of the matrices.
float sum_of(const std::vector<std::array<float, 2>>& products, float c,
             Accumulator type = Accumulator::f32) {
  std::array<std::uint16_t, FactorsA::kCount> a_bits{};
  std::array<std::uint16_t, FactorsB::kCount> b_bits{};
  for (std::size_t k = 0; k < products.size(); ++k) {
    a_bits[k] = to_half(products[k][0]);
    b_bits[k * kProductColumns] = to_half(products[k][1]);
  }
  FactorsA a;
  FactorsB b;
  set_factors(Factor::f16, a_bits, a);
  set_factors(Factor::f16, b_bits, b);
  Accumulators all{};
  all[0] = c;
  multiply_add({.accumulator = type}, {&a, 1}, {&b, 1}, all);
  return all[0];
}

std::vector<std::array<float, 2>> sixteen(float a, float b) { return {16, {a, b}}; }

TEST(MatrixProduct, CutsOffWhatStandsBehindTheLastBitOfTheSum) {
  constexpr float kFactor = 0x1p-13F;
  EXPECT_EQ(sum_of(sixteen(kFactor, 0x1p-12F), 1.0F), 1.0F + 0x1p-21F);  // 16 x 2^-25
  EXPECT_EQ(sum_of(sixteen(kFactor, 0x1p-13F), 1.0F), 1.0F);             // 16 x 2^-26: all cut off
  EXPECT_EQ(sum_of(sixteen(kFactor, 0x1.8p-12F), 1.0F), 1.0F + 0x1p-21F);
}

TEST(MatrixProduct, AlignsProductsThatAreNotNormalised) {
  // 1.5 x 1.5 = 2.25 keeps the exponent 0, so 2^-25 still counts.
  const float sum = sum_of({{1.5F, 1.5F}, {-1.5F, 1.5F}, {0x1p-13F, 0x1p-12F}}, 0.0F);
  EXPECT_EQ(sum, 0x1p-25F);
  EXPECT_EQ(sum_of({{2.0F, 1.0F}, {-2.0F, 1.0F}, {0x1p-13F, 0x1p-12F}}, 0.0F), 0.0F);
}

TEST(MatrixProduct, ResultsAreCutOffTowardZero) {
  EXPECT_EQ(sum_of({{0x1p-12F, 0x1.8p-12F}}, 1.0F), 1.0F);
  EXPECT_EQ(sum_of({{0x1p-12F, -0x1.8p-12F}}, -1.0F), -1.0F);
  EXPECT_EQ(sum_of({{1.0F, -0x1p-24F}}, 1.0F), 1.0F - 0x1p-24F);
}

TEST(MatrixProduct, HalvesAreRoundedToNearestEven) {
  EXPECT_EQ(sum_of({{1.0F, 0x1p-11F}}, 1.0F, Accumulator::f16), 1.0F);
  EXPECT_EQ(sum_of({{1.0F, 0x1p-11F}, {0x1p-12F, 0x1p-10F}}, 1.0F, Accumulator::f16),
            1.0F + 0x1p-10F);
  EXPECT_EQ(sum_of({{1.0F, 0x1.8p-10F}}, 1.0F, Accumulator::f16), 1.0F + 0x1p-9F);
  EXPECT_EQ(sum_of({{256.0F, 256.0F}}, 0.0F, Accumulator::f16),
            std::numeric_limits<float>::infinity());
}

TEST(MatrixProduct, SpecialValues) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(sum_of({{kInfinity, 2.0F}}, 1.0F), kInfinity);
  EXPECT_EQ(std::bit_cast<std::uint32_t>(sum_of({{kInfinity, 0.0F}}, 1.0F)), 0x7fffffffU);
  EXPECT_EQ(std::bit_cast<std::uint32_t>(sum_of({{kInfinity, 1.0F}}, -kInfinity)), 0x7fffffffU);
  EXPECT_FALSE(std::signbit(sum_of({{-1.0F, 0.0F}}, -0.0F)));
  EXPECT_EQ(sum_of({{0.0F, 1.0F}}, 0x1p-140F), 0x1p-140F);
  EXPECT_EQ(sum_of({}, std::numeric_limits<float>::max()), std::numeric_limits<float>::max());
}

/// Draws bits of numbers between 2^-spread and 2^spread, and with a wide spread also any pattern.
class AnyBits {
 public:
  AnyBits(Factor type, int spread) : type_(type), spread_(spread) {}

  std::uint32_t factor() {
    const double value = number();
    switch (type_) {
      case Factor::f16:
        return any(to_half(static_cast<float>(value)), 0xffff);
      case Factor::bf16:
        return any(to_bfloat(static_cast<float>(value)), 0xffff);
      case Factor::e4m3:
        return half_of(byte(value, Fp8::e4m3), Fp8::e4m3);
      case Factor::e5m2:
        return half_of(byte(value, Fp8::e5m2), Fp8::e5m2);
      case Factor::tf32:
        break;
    }
    return any(std::bit_cast<std::uint32_t>(static_cast<float>(value)), 0xffffffff);
  }
  float accumulator(Accumulator type) {
    const float value = std::bit_cast<float>(
        any(std::bit_cast<std::uint32_t>(static_cast<float>(number())), 0xffffffff));
    return type == Accumulator::f16 ? from_half(to_half(value)) : value;
  }

 private:
  double number() {
    const double magnitude = std::ldexp(1.0 + uniform_(random_),
                                        static_cast<int>((uniform_(random_) * 2 - 1) * spread_));
    return uniform_(random_) < 0.1 ? 0.0 : uniform_(random_) < 0.5 ? -magnitude : magnitude;
  }
  std::uint8_t byte(double value, Fp8 format) {
    return static_cast<std::uint8_t>(any(to_fp8(value, format), 0xff));
  }
  std::uint32_t any(std::uint32_t bits, std::uint32_t mask) {
    return spread_ > 200 && uniform_(random_) < 0.01 ? static_cast<std::uint32_t>(random_()) & mask
                                                     : bits;
  }

  Factor type_;
  int spread_;
  std::mt19937_64 random_{7};
  std::uniform_real_distribution<double> uniform_;
};

template <std::size_t kRows, std::size_t kColumns>
Factors<kRows, kColumns> any_factors(AnyBits& bits, Factor type) {
  constexpr std::size_t kCount = kRows * kColumns;
  std::array<std::uint32_t, kCount> words;
  std::generate(words.begin(), words.end(), [&] { return bits.factor(); });
  std::array<std::uint16_t, kCount> halves;
  std::transform(words.begin(), words.end(), halves.begin(),
                 [](std::uint32_t word) { return static_cast<std::uint16_t>(word); });
  Factors<kRows, kColumns> factors;
  type == Factor::tf32 ? set_factors(words, factors) : set_factors(type, halves, factors);
  return factors;
}

/// Expects the vectorised sums to equal those of the rule, bit for bit in every element.
void compare_with_rule(Factor factor, const Summation& summation, int spread,
                       std::size_t parts = 1) {
  AnyBits bits(factor, spread);
  std::vector<FactorsA> a(parts);
  std::vector<FactorsB> b(parts);
  for (int trial = 0; trial < 200; ++trial) {
    for (std::size_t part = 0; part < parts; ++part) {
      a[part] = any_factors<kProductRows, kProductDepth>(bits, factor);
      b[part] = any_factors<kProductDepth, kProductColumns>(bits, factor);
    }
    Accumulators c;
    std::generate(c.begin(), c.end(),
                  [&] { return trial % 3 == 0 ? 0.0F : bits.accumulator(summation.accumulator); });
    Accumulators results = c;
    multiply_add(summation, a, b, results);
    for (std::size_t i = 0; i < c.size(); ++i) {
      const float expected =
          multiply_add_one(summation, a, i / kProductColumns, b, i % kProductColumns, c[i]);
      ASSERT_EQ(std::bit_cast<std::uint32_t>(results[i]), std::bit_cast<std::uint32_t>(expected))
          << "trial " << trial << ", element " << i << ", spread " << spread;
    }
  }
}

TEST(MatrixProduct, VectorsGiveWhatTheRuleSays) {
  for (const int spread : {2, 14, 40, 130, 300}) {
    for (const Factor factor : {Factor::f16, Factor::bf16, Factor::tf32}) {
      compare_with_rule(factor, {}, spread);
    }
    for (const Factor factor : {Factor::e4m3, Factor::e5m2}) {
      compare_with_rule(factor, kFp8Summation, spread, 2);
    }
  }
  for (const int spread : {2, 14, 30}) {
    compare_with_rule(Factor::f16, {.accumulator = Accumulator::f16}, spread);
  }
}

/// Computes c + the sum of a[k] b[k] as wgmma does, with elements of e4m3 in row 0 and column 0.
float fp8_sum_of(const std::vector<std::array<float, 2>>& products, float c) {
  Words<kProductRows> rows{};
  Words<kProductColumns> columns{};
  for (std::size_t k = 0; k < products.size(); ++k) {
    rows[k / 4] |= std::uint32_t{to_fp8(products[k][0], Fp8::e4m3)} << 8 * (k % 4);
    columns[k / 4] |= std::uint32_t{to_fp8(products[k][1], Fp8::e4m3)} << 8 * (k % 4);
  }
  std::array<FactorsA, 2> a;
  std::array<FactorsB, 2> b;
  for (std::size_t part = 0; part < a.size(); ++part) {
    a[part] = factors_of_rows(Factor::e4m3, rows, part, Factor::e4m3);
    b[part] = factors_of_columns(Factor::e4m3, columns, part, Factor::e4m3);
  }
  Accumulators all{};
  all[0] = c;
  multiply_add(kFp8Summation, a, b, all);
  return all[0];
}

TEST(MatrixProduct, EightBitSumsKeep13PlacesBehindThePoint) {
  EXPECT_EQ(fp8_sum_of({}, 1.0F + 0x1.8p-13F), 1.0F + 0x1p-13F);
  EXPECT_EQ(fp8_sum_of({}, -1.0F - 0x1.8p-13F), -1.0F - 0x1p-13F);
  EXPECT_EQ(fp8_sum_of({{0x1p-6F, 0x1p-7F}}, 1.0F), 1.0F + 0x1p-13F);
  EXPECT_EQ(fp8_sum_of({32, {0x1p-7F, 0x1p-7F}}, 1.0F), 1.0F);
  // All 32 products are in one sum.
  std::vector<std::array<float, 2>> products(32, {0.0F, 0.0F});
  products[1] = {448.0F, 448.0F};
  products[31] = {-448.0F, 448.0F};
  products[2] = {1.0F, 1.0F};
  EXPECT_EQ(fp8_sum_of(products, 0.0F), 0.0F);  // 1 is less than 2^(16 - 13)
}

TEST(MatrixProduct, EightBitSubnormalsHaveTheirTypesLeastExponent) {
  // 2^-9 has the exponent -6: what is less than 2^(-12 - 13) is cut off.
  EXPECT_EQ(fp8_sum_of({{0x1p-9F, 0x1p-9F}}, 0x1p-24F), 0x1p-18F + 0x1p-24F);
  EXPECT_EQ(fp8_sum_of({{0x1p-9F, 0x1p-9F}}, 0x1p-26F), 0x1p-18F);
}

/// Bytes that count up from `first`, as rows or columns.
template <std::size_t kCount>
Words<kCount> counted(std::uint32_t first) {
  Words<kCount> words;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::uint32_t byte = first + 4 * static_cast<std::uint32_t>(i);
    words[i] =
        byte % 256 | (byte + 1) % 256 << 8U | (byte + 2) % 256 << 16U | (byte + 3) % 256 << 24U;
  }
  return words;
}

float fp8_value(std::size_t byte, Fp8 format) {
  return from_half(half_of(static_cast<std::uint8_t>(byte), format));
}

TEST(MatrixProduct, EightBitRowsHaveTwoPartsWithHalfOfEachWord) {
  // A row has 32 bytes: byte 4 word + i is in part i / 2.
  const Words<kProductRows> rows = counted<kProductRows>(0);
  const Words<kProductColumns> columns = counted<kProductColumns>(3);
  ASSERT_EQ(parts_of(Factor::e4m3), 2U);
  for (std::size_t part = 0; part < 2; ++part) {
    const FactorsA a = factors_of_rows(Factor::e5m2, rows, part, Factor::e5m2);
    const FactorsB b = factors_of_columns(Factor::e4m3, columns, part, Factor::e4m3);
    for (std::size_t k = 0; k < kProductDepth; ++k) {
      const std::size_t byte = k / 2 * 4 + 2 * part + k % 2;
      // Rows 2 and 10 have bytes 64 to 95: finite numbers.
      EXPECT_EQ(a.values[2 * kProductDepth + k], fp8_value(64 + byte, Fp8::e5m2)) << k;
      EXPECT_EQ(a.values[10 * kProductDepth + k], fp8_value(64 + byte, Fp8::e5m2)) << k;
      EXPECT_EQ(b.values[k * kProductColumns + 1], fp8_value(35 + byte, Fp8::e4m3)) << k;
    }
  }
}

}  // namespace
}  // namespace fatune::emulate
