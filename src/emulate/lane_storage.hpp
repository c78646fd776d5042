#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

#include "emulate/lanes.hpp"

namespace fatune::emulate {

/// Room for registers of different widths, each at its offset. Zero at first.
class LaneStorage {
 public:
  LaneStorage() = default;
  explicit LaneStorage(std::size_t bytes) : bytes_(allocate(bytes)) {
    std::memset(bytes_.get(), 0, bytes);
  }

  /// 32 lanes of 32 or of 64 bits. Precondition: the register at the offset is of that width.
  template <typename Lane>
  [[nodiscard]] Lane* at(std::uint32_t offset) const {
    return reinterpret_cast<Lane*>(bytes_.get() + offset);
  }

 private:
  static constexpr std::size_t kAlignment = 64;
  struct Free {
    void operator()(std::byte* bytes) const noexcept { std::free(bytes); }
  };

  // Storage from malloc's family may hold objects of any of these types without further ado.
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
