#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace fatune::emulate {

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
