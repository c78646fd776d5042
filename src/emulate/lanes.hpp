#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

// A register of a warp has one value for each lane, in 32 or 64 bits. Narrower types are in the low
// bits, with zeros above. Predicates are masks.
namespace fatune::emulate {

inline constexpr int kLanes = 32;
using Mask = std::uint32_t;  ///< bit i: lane i
inline constexpr Mask kAllLanes = ~Mask{0};

constexpr Mask lane_bit(int lane) { return Mask{1} << lane; }
constexpr bool has_lane(Mask mask, int lane) { return (mask >> lane & 1U) != 0; }

/// Calls `work(lane)` for the lanes of a mask, in ascending order.
template <typename Work>
void for_each_lane(Mask mask, Work work) {
  for (; mask != 0; mask &= mask - 1) {
    work(std::countr_zero(mask));
  }
}

template <typename T>
using Raw = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;

template <typename T>
constexpr T from_raw(Raw<T> raw) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::bit_cast<T>(raw);
  } else {
    return static_cast<T>(raw);
  }
}

template <typename T>
constexpr Raw<T> to_raw(T value) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::bit_cast<Raw<T>>(value);
  } else {
    return static_cast<Raw<T>>(static_cast<std::make_unsigned_t<T>>(value));
  }
}

}  // namespace fatune::emulate
