#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace fatune::emulate {

inline constexpr int kMostWarps = 32;  ///< of a block: 1024 threads

/// A thread's access at a time: its warp's clock, which counts synchronisations. 0: never.
/// source: Flanagan & Freund, "FastTrack: efficient and precise dynamic race detection" (2009)
class Epoch {
 public:
  constexpr Epoch() = default;
  constexpr Epoch(std::uint32_t clock, int warp, int lane)
      : bits_(clock << 10U | static_cast<std::uint32_t>(warp) << 5U |
              static_cast<std::uint32_t>(lane)) {}

  [[nodiscard]] constexpr bool never() const { return bits_ == 0; }
  [[nodiscard]] constexpr std::uint32_t clock() const { return bits_ >> 10U; }
  [[nodiscard]] constexpr int warp() const { return static_cast<int>(bits_ >> 5U & 31U); }
  [[nodiscard]] constexpr int lane() const { return static_cast<int>(bits_ & 31U); }
  [[nodiscard]] constexpr int thread() const { return static_cast<int>(bits_ & 1023U); }
  friend constexpr bool operator==(Epoch, Epoch) = default;

 private:
  std::uint32_t bits_ = 0;
};

/// What a warp knows of the others: everything they did up to these clocks came before.
///
/// Kept by warp, not by thread: lanes of a warp are ordered by barriers and bar.warp.sync of all of
/// them. A synchronisation of some lanes counts for the whole warp: a race that only such a
/// divergent use hides is not found, and none is reported that is not there.
class VectorClock {
 public:
  [[nodiscard]] std::uint32_t of(int warp) const { return known_[static_cast<std::size_t>(warp)]; }
  void set(int warp, std::uint32_t clock) { known_[static_cast<std::size_t>(warp)] = clock; }
  void join(const VectorClock& other) {
    std::transform(known_.begin(), known_.end(), other.known_.begin(), known_.begin(),
                   [](std::uint32_t a, std::uint32_t b) { return std::max(a, b); });
  }

 private:
  std::array<std::uint32_t, kMostWarps> known_{};
};

/// Who accesses, and what has come before it.
struct Accessor {
  int warp = 0;
  int lane = 0;
  const VectorClock* known = nullptr;  ///< the warp's own entry: its clock now

  [[nodiscard]] Epoch epoch() const { return {known->of(warp), warp, lane}; }
  /// Whether an access comes before everything that this one does now.
  [[nodiscard]] bool follows(Epoch before) const {
    if (before.never() || (before.warp() == warp && before.lane() == lane)) {
      return true;
    }
    return before.warp() == warp ? before.clock() < known->of(warp)
                                 : before.clock() <= known->of(before.warp());
  }
};

}  // namespace fatune::emulate
