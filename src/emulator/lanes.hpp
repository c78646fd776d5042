#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
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

/// The lanes of a mask for which `holds(lane)` is true.
template <typename Holds>
Mask lanes_where(Mask mask, Holds holds) {
  Mask found = 0;
  for_each_lane(mask, [&](int lane) { found |= holds(lane) ? lane_bit(lane) : 0U; });
  return found;
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

/// Storage for registers of different widths, each at its own offset. Initially zero.
class LaneStorage {
 public:
  LaneStorage() = default;
  explicit LaneStorage(std::size_t bytes) : bytes_(allocate(bytes)) {
    std::memset(bytes_.get(), 0, bytes);
  }

  /// The 32 lanes of a register. Precondition: the register at the offset has Lane's width.
  template <typename Lane>
  [[nodiscard]] Lane* at(std::uint32_t offset) const {
    return reinterpret_cast<Lane*>(bytes_.get() + offset);
  }

 private:
  struct Free {
    void operator()(std::byte* bytes) const noexcept { std::free(bytes); }
  };

  // Memory from the malloc family may hold any of these types: objects are created implicitly.
  static std::byte* allocate(std::size_t bytes) {
    constexpr std::size_t kAlignment = 64;
    void* const room =
        std::aligned_alloc(kAlignment, (bytes + kAlignment) / kAlignment * kAlignment);
    if (room == nullptr) {
      throw std::bad_alloc();
    }
    return static_cast<std::byte*>(room);
  }

  std::unique_ptr<std::byte, Free> bytes_;
};

}  // namespace fatune::emulate
