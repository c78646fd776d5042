// Limits of the numbers that expressions give.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

namespace fatune_attention::detail {

/// Up to 2^53, doubles represent every whole number exactly.
inline constexpr double kMostExact = 9007199254740992.0;

/// Whether a number is whole, and within the limits.
inline bool is_whole(double value, double least, double most) {
  return value >= least && value <= most && std::trunc(value) == value;
}

/// `alignment` is a power of two.
constexpr std::size_t round_up(std::size_t value, std::size_t alignment) {
  return (value + alignment - 1) & ~(alignment - 1);
}

}  // namespace fatune_attention::detail
