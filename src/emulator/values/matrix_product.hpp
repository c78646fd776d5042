#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "emulator/lanes.hpp"
#include "emulator/values/floats.hpp"
#include "emulator/values/fp8.hpp"

// Products of small matrices as tensor cores compute them. NVIDIA does not document how they add.
// This code follows what others have measured on Hopper, and confirmed bit by bit on random
// matrices.
//
// All products of an element are added to the accumulator in one sum. Products are exact. The
// addends are aligned at the greatest exponent among them. A product's exponent is the sum of its
// factors' exponents (it is not normalised). A zero has no exponent. Bits that are then more than
// `aligned_bits` places after the point are cut off, and the rest is added exactly. The result is
// truncated to single precision, of which `result_bits` places after the point remain, or rounded
// to half precision (to nearest, ties to even). A NaN is 0x7fffffff or 0x7fff, and no sum is a
// negative zero.
//
// source: Xie et al., "MMA-Sim: bit-accurate reference model of tensor cores and matrix cores"
// (arXiv:2511.10909); Khattak & Mikaitis, "Accurate models of NVIDIA tensor cores"
// (arXiv:2512.07004)
namespace fatune::emulate {

enum class Accumulator : std::uint8_t { f32, f16 };

/// How products are summed. The values are Hopper's for 16-bit and tf32 factors. (Ampere: 24
/// aligned bits, in sums of 8 products.)
struct Summation {
  Accumulator accumulator = Accumulator::f32;
  std::int32_t aligned_bits = 25;
  std::int32_t result_bits = 23;  ///< of single precision
};

/// How wgmma sums products of 8-bit floats. The mma of 8-bit floats multiplies halves instead.
inline constexpr Summation kFp8Summation{.aligned_bits = 13, .result_bits = 13};

/// Types of factors; tf32 is the upper 19 bits of single precision.
enum class Factor : std::uint8_t { f16, bf16, tf32, e4m3, e5m2 };
[[nodiscard]] constexpr bool is_fp8(Factor type) {
  return type == Factor::e4m3 || type == Factor::e5m2;
}

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

/// Sets elements from their bits: 16-bit ones, halves for 8-bit ones, or tf32 in 32-bit words.
/// `type`: of the original elements.
/// Zeros change no sum, so they can pad matrices that are less deep than kProductDepth.
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

/// C += A B, in single precision or in half precision held as single. Deep matrices have several
/// parts of kProductDepth each, whose products are all in one sum.
void multiply_add(const Summation& summation, std::span<const FactorsA> a,
                  std::span<const FactorsB> b, Accumulators& c);

/// Computes one element of the same, exactly as the rule is stated. Slower.
float multiply_add_one(const Summation& summation, std::span<const FactorsA> a, std::size_t row,
                       std::span<const FactorsB> b, std::size_t column, float c);

// --- Elements in registers. `lanes(i)` has the 32 lanes of the i-th register ---

/// Rows of up to 32 bytes: A's 16 rows, or B's 8 columns.
template <std::size_t kRows>
using Words = std::array<std::uint32_t, kRows * 8>;

/// A register of A holds 8 rows of 16 bytes, lane after lane, for every type. The first register
/// has rows 0 to 7, the second has rows 8 to 15, and the next ones have the next 16 bytes of these
/// rows. A register of B holds 8 columns of 16 bytes.
template <std::size_t kRows, typename Lanes>
Words<kRows> words_of(const Lanes& lanes, std::size_t registers) {
  constexpr std::size_t kBlocks = kRows / 8;
  constexpr std::size_t kRowWords = 4;  // in one register
  Words<kRows> words{};
  for (std::size_t i = 0; i < registers; ++i) {
    for (std::size_t row = 0; row < 8; ++row) {
      std::copy_n(lanes(i) + row * kRowWords, kRowWords,
                  words.data() + 8 * (i % kBlocks * 8 + row) + i / kBlocks * kRowWords);
    }
  }
  return words;
}

/// Matrices of 8-bit factors have two parts, because kProductDepth of them are half a row. As in
/// the machine code of mma for Hopper, the first part has the elements 0 and 1 of every word, the
/// second part has 2 and 3.
[[nodiscard]] constexpr std::size_t parts_of(Factor type) { return is_fp8(type) ? 2 : 1; }

/// The words as rows of 16-bit elements; of 8-bit ones, a part as halves.
template <std::size_t kRows>
std::array<std::uint16_t, kRows * kProductDepth> halves_of(const Words<kRows>& words, Factor type,
                                                           std::size_t part = 0) {
  if (!is_fp8(type)) {
    return std::bit_cast<std::array<std::uint16_t, kRows * kProductDepth>>(words);
  }
  const Fp8 format = type == Factor::e4m3 ? Fp8::e4m3 : Fp8::e5m2;
  std::array<std::uint16_t, kRows * kProductDepth> halves;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::uint32_t pair = words[i] >> 16 * part;
    halves[2 * i] = half_of(static_cast<std::uint8_t>(pair), format);
    halves[2 * i + 1] = half_of(static_cast<std::uint8_t>(pair >> 8U), format);
  }
  return halves;
}

/// Part `part` of A from its rows, and of B from its columns. `aligned_as`: the type that says what
/// a subnormal is; f16 where 8-bit elements are converted before they are multiplied.
/// Precondition: the type is not tf32.
[[nodiscard]] FactorsA factors_of_rows(Factor type, const Words<kProductRows>& rows,
                                       std::size_t part, Factor aligned_as);
[[nodiscard]] FactorsB factors_of_columns(Factor type, const Words<kProductColumns>& columns,
                                          std::size_t part, Factor aligned_as);

template <typename Value>
using Tile = std::array<Value, kProductRows * kProductColumns>;

/// Accumulators of 32 bits. Lane 4 r + t has columns 2 t and 2 t + 1: of row r in registers 0 and
/// 1, of row r + 8 in registers 2 and 3.
template <typename Value, typename Lanes>
Tile<Value> accumulators(const Lanes& lanes) {
  Tile<Value> tile;
  for (std::size_t i = 0; i < 4; ++i) {
    const std::uint32_t* const from = lanes(i);
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      tile[2 * (i / 2 * kLanes + lane) + i % 2] = from_raw<Value>(from[lane]);
    }
  }
  return tile;
}

template <typename Value, typename Lanes>
void set_accumulators(const Tile<Value>& tile, const Lanes& lanes) {
  for (std::size_t i = 0; i < 4; ++i) {
    std::uint32_t* const to = lanes(i);
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      to[lane] = to_raw<Value>(tile[2 * (i / 2 * kLanes + lane) + i % 2]);
    }
  }
}

/// Accumulators of 16 bits, in pairs like the elements of A.
template <typename Lanes>
Accumulators half_accumulators(const Lanes& lanes) {
  Accumulators tile;
  for (std::size_t i = 0; i < tile.size(); ++i) {
    const std::uint32_t pair = lanes(i / 64)[i % 64 / 2];
    tile[i] = from_half(static_cast<std::uint16_t>(pair >> 16 * (i % 2)));
  }
  return tile;
}

template <typename Lanes>
void set_half_accumulators(const Accumulators& tile, const Lanes& lanes) {
  for (std::size_t i = 0; i < tile.size(); i += 2) {
    lanes(i / 64)[i % 64 / 2] = to_half(tile[i]) | static_cast<std::uint32_t>(to_half(tile[i + 1]))
                                                       << 16U;
  }
}

/// Transposes 8 rows of 8 elements of 16 bits in place.
inline void transpose_8x8(std::uint16_t* elements) {
  using Row = std::uint16_t __attribute__((vector_size(16)));
  std::array<Row, 8> rows;
  std::memcpy(rows.data(), elements, sizeof(rows));
  // Each turn interleaves the upper rows with the lower ones. This rotates the six bits of an
  // element's index by one. Three turns exchange row and column.
  for (int turn = 0; turn < 3; ++turn) {
    const std::array<Row, 8> old = rows;
    for (std::size_t i = 0; i < 4; ++i) {
      rows[2 * i] = __builtin_shufflevector(old[i], old[i + 4], 0, 8, 1, 9, 2, 10, 3, 11);
      rows[2 * i + 1] = __builtin_shufflevector(old[i], old[i + 4], 4, 12, 5, 13, 6, 14, 7, 15);
    }
  }
  std::memcpy(elements, rows.data(), sizeof(rows));
}

}  // namespace fatune::emulate
