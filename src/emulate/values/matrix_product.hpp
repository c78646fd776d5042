#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

// Products of small matrices as tensor cores compute them. NVIDIA does not document how they add.
// This code follows what others have measured on Hopper, and confirmed bit by bit on random
// matrices.
//
// All products of an element are added to the accumulator in one sum. Products are exact. The
// addends are aligned at the greatest exponent among them. A product's exponent is the sum of its
// factors' exponents (it is not normalised). A zero has no exponent. Bits that are then more than
// kSumFractionBits places after the point are cut off, and the rest is added exactly. The result is
// truncated to single precision, or rounded to half precision (to nearest, ties to even). A NaN is
// 0x7fffffff or 0x7fff, and no sum is a negative zero.
//
// source: Xie et al., "MMA-Sim: bit-accurate reference model of tensor cores and matrix cores"
// (arXiv:2511.10909); Khattak & Mikaitis, "Accurate models of NVIDIA tensor cores"
// (arXiv:2512.07004)
namespace fatune::emulate {

/// The value for Hopper, for 16-bit and tf32 factors. (Ampere: 24, in sums of 8 products.)
inline constexpr int kSumFractionBits = 25;

/// Types of factors; tf32 is the upper 19 bits of single precision.
enum class Factor : std::uint8_t { f16, bf16, tf32 };
enum class Accumulator : std::uint8_t { f32, f16 };

/// The elements of a matrix as numbers, and the exponents by which their products are aligned.
template <std::size_t kRows, std::size_t kColumns>
struct Factors {
  static constexpr std::size_t kCount = kRows * kColumns;
  alignas(32) std::array<float, kCount> values;            ///< [row][column]
  alignas(32) std::array<std::int32_t, kCount> exponents;  ///< [row][column]
};
inline constexpr std::size_t kProductRows = 16;
inline constexpr std::size_t kProductColumns = 8;
inline constexpr std::size_t kProductDepth = 16;
using FactorsA = Factors<kProductRows, kProductDepth>;
using FactorsB = Factors<kProductDepth, kProductColumns>;
/// Accumulators of either type as single precision: [row][column].
using Accumulators = std::array<float, kProductRows * kProductColumns>;

/// Sets elements from their bits: 16-bit ones, or tf32 in 32-bit words. Zeros change no sum, so
/// they can pad matrices that are less deep than kProductDepth.
void set_factors(Factor type, std::span<const std::uint16_t> bits, std::span<float> values,
                 std::span<std::int32_t> exponents);
void set_factors(std::span<const std::uint32_t> bits, std::span<float> values,
                 std::span<std::int32_t> exponents);
template <std::size_t kRows, std::size_t kColumns>
void set_factors(Factor type, const std::array<std::uint16_t, kRows * kColumns>& bits,
                 Factors<kRows, kColumns>& to) {
  set_factors(type, bits, to.values, to.exponents);
}
template <std::size_t kRows, std::size_t kColumns>
void set_factors(const std::array<std::uint32_t, kRows * kColumns>& bits,
                 Factors<kRows, kColumns>& to) {
  set_factors(bits, to.values, to.exponents);
}

/// C += A B, in single precision or in half precision held as single.
void multiply_add(Accumulator type, const FactorsA& a, const FactorsB& b, Accumulators& c);

/// Computes one element of the same, exactly as the rule is stated. Slower.
float multiply_add_one(Accumulator type, const FactorsA& a, std::size_t row, const FactorsB& b,
                       std::size_t column, float c);

}  // namespace fatune::emulate
