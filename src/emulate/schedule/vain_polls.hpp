#pragma once

#include <cstddef>
#include <cstdint>

#include "emulate/execution.hpp"

// Loops that read memory until it changes. A warp that reads the same value again ends its turn, so
// that other warps, of this block or another one, can change it.
namespace fatune::emulate {

/// A digest of a strong read: its instruction, its lanes, the values read and their addresses.
class PollDigest {
 public:
  PollDigest(std::size_t instruction, Mask lanes) {
    add(instruction);
    add(lanes);
  }
  void add(std::uint64_t word) {
    constexpr std::uint64_t kMultiplier = 0x9e3779b97f4a7c15U;
    value_ = (value_ ^ word) * kMultiplier;
    value_ ^= value_ >> 32U;
  }
  [[nodiscard]] std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 1;
};

/// Records a strong read that has changed nothing. Ends the warp's turn if it repeats a recent one.
/// `address`: of one of its lanes.
inline void note_poll(Execution& x, Warp& warp, const PollDigest& digest, std::uint64_t address) {
  if (warp.polls.met_again(digest.value(), address)) {
    x.turn_ends = true;
  }
}

}  // namespace fatune::emulate
