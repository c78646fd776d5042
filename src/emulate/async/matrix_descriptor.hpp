#pragma once

#include <cstdint>

#include "emulate/memory/tensor_map.hpp"

// The matrix descriptors of wgmma: PTX ISA 9.0, section 9.7.15.5.1.
namespace fatune::emulate {

/// The address and layout of a matrix of 16-bit elements in shared memory. Its "rows" are M for A
/// and N for B.
struct MatrixDescriptor {
  std::uint32_t start = 0;          ///< address
  std::uint32_t leading_bytes = 0;  ///< leading dimension byte offset
  std::uint32_t stride_bytes = 0;   ///< stride dimension byte offset
  std::uint32_t base_offset = 0;
  Swizzle swizzle = Swizzle::none;

  [[nodiscard]] static MatrixDescriptor of(std::uint64_t bits);

  /// The bytes after which the swizzle's permutation repeats; 16 without a swizzle.
  [[nodiscard]] std::uint32_t repeat_bytes() const;
  /// True if the swizzle's pattern begins where the rows do. Otherwise rows are read with another
  /// permutation than they were written with.
  [[nodiscard]] bool is_aligned() const;

  /// The address of a 16-byte chunk. K-major: elements k = 8 chunk to 8 chunk + 7 of a row.
  [[nodiscard]] std::uint32_t k_major_chunk(std::uint32_t row, std::uint32_t chunk) const;
  /// The address of a 16-byte chunk. MN-major: rows 8 chunk to 8 chunk + 7 at one k.
  [[nodiscard]] std::uint32_t mn_major_chunk(std::uint32_t chunk, std::uint32_t k) const;

 private:
  /// The bytes of a swizzled row: 32, 64 or 128; without a swizzle, the 16 bytes of one chunk.
  [[nodiscard]] std::uint32_t row_bytes() const;
};

}  // namespace fatune::emulate
