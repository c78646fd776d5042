#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/ranges.hpp"

namespace fatune::emulate {

/// Digests of the results of a warp's last strong reads.
class RecentPolls {
 public:
  /// Records a read. Returns true if a recent one had the same digest. `address` is that of the
  /// read's first lane.
  bool met_again(std::uint64_t digest, std::uint64_t address) {
    last_address_ = address;
    if (is_among(digest, digests_)) {
      return true;
    }
    digests_[next_++ % digests_.size()] = digest;
    return false;
  }
  [[nodiscard]] std::uint64_t last_address() const { return last_address_; }

 private:
  std::array<std::uint64_t, 8> digests_{};
  std::size_t next_ = 0;
  std::uint64_t last_address_ = 0;
};

}  // namespace fatune::emulate
