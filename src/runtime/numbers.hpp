#pragma once

// Limits of the numbers that expressions give.

#include <cstddef>
#include <cstdint>

namespace fatune_attention::detail {

/// Up to 2^53, doubles represent every whole number exactly.
inline constexpr double kMostExact = 9007199254740992.0;

/// Whether a number is whole, and within the limits, which are at most kMostExact in magnitude. The
/// conversion is faster than std::trunc, which is a call on plain x86-64.
inline bool is_whole(double value, double least, double most) {
  return value >= least && value <= most &&
         static_cast<double>(static_cast<std::int64_t>(value)) == value;
}

/// `alignment` is a power of two.
constexpr std::size_t round_up(std::size_t value, std::size_t alignment) {
  return (value + alignment - 1) & ~(alignment - 1);
}

/// Returns the code of this key, or -1 if there is none. `keys` has `count` keys of `parts`
/// numbers.
inline int find_kernel(const double* key, int parts, const double* keys, const int* codes,
                       int count) {
  for (int i = 0; i < count; ++i) {
    int same = 0;
    while (same < parts && keys[i * parts + same] == key[same]) {
      ++same;
    }
    if (same == parts) {
      return codes[i];
    }
  }
  return -1;
}

}  // namespace fatune_attention::detail
