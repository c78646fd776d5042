// What the numbers that expressions give may be.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

namespace fatune_attention::detail {

/// Up to here a double tells every whole number from its neighbours: 2^53.
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
