#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

#include "emulate/lanes.hpp"

namespace fatune::emulate {

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
  static constexpr std::size_t kAlignment = 64;
  struct Free {
    void operator()(std::byte* bytes) const noexcept { std::free(bytes); }
  };

  // Memory from the malloc family may hold any of these types: objects are created implicitly.
  static std::byte* allocate(std::size_t bytes) {
    const std::size_t whole = (bytes + kAlignment) / kAlignment * kAlignment;
    void* const room = std::aligned_alloc(kAlignment, whole);
    if (room == nullptr) {
      throw std::bad_alloc();
    }
    return static_cast<std::byte*>(room);
  }

  std::unique_ptr<std::byte, Free> bytes_;
};

}  // namespace fatune::emulate
