#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "emulator/memory/clocks.hpp"

// mbarrier objects in shared memory: PTX ISA 9.0, section 9.7.13.15.
namespace fatune::emulate {

/// A description of the misuse of an mbarrier; empty: none.
using MbarrierFault = std::string;

/// An mbarrier, with the arrivals and bytes that its current phase still waits for.
class Mbarrier {
 public:
  static constexpr std::uint32_t kBytes = 8;
  static constexpr std::int64_t kMostCount = (1 << 20) - 1;

  Mbarrier() = default;
  /// `base`: the clock that the agent has reached. The mbarrier's clocks are above it.
  Mbarrier(Agent agent, std::uint32_t count, Epoch initialiser, std::uint32_t base);

  /// The number of phases completed so far.
  [[nodiscard]] std::uint64_t phase() const { return phase_; }
  [[nodiscard]] std::int64_t pending() const { return pending_; }
  [[nodiscard]] std::int64_t pending_bytes() const { return pending_bytes_; }
  [[nodiscard]] Agent agent() const { return agent_; }
  [[nodiscard]] Epoch initialiser() const { return initialiser_; }
  /// The epoch of copies that complete in the current phase.
  [[nodiscard]] Epoch epoch() const { return {clock(), agent_, 0}; }

  /// `known`: the knowledge that the arriving warp passes to the waiting ones; null with .relaxed.
  [[nodiscard]] MbarrierFault arrive(std::int64_t count, const Knowledge* known);
  /// Arrives, and lowers the arrivals that later phases expect by `count`.
  [[nodiscard]] MbarrierFault arrive_drop(std::int64_t count, const Knowledge* known);
  /// Expects one more arrival in this phase.
  [[nodiscard]] MbarrierFault add_arrival();
  [[nodiscard]] MbarrierFault expect(std::int64_t bytes);
  [[nodiscard]] MbarrierFault complete(std::int64_t bytes);

  /// True if the phase with this number, or with this parity, has completed.
  [[nodiscard]] bool has_completed(std::uint64_t phase) const { return phase_ > phase; }
  [[nodiscard]] bool has_completed_parity(std::uint32_t parity) const {
    return (phase_ & 1U) != (parity & 1U);
  }
  /// The knowledge that warps gain by waiting for the last completed phase.
  [[nodiscard]] const Knowledge& completed() const { return completed_; }

  /// The opaque state that an arrival returns. Waits and pending_count take it.
  [[nodiscard]] std::uint64_t state() const;
  static std::uint64_t phase_of(std::uint64_t state) { return state >> kCountBits; }
  static std::uint64_t pending_of(std::uint64_t state) {
    return state & ((std::uint64_t{1} << kCountBits) - 1);
  }

  /// Describes the current phase: "phase 3 waits for 1 of 2 arrivals and 4096 bytes".
  [[nodiscard]] std::string describe() const;

 private:
  static constexpr std::uint32_t kCountBits = 20;

  [[nodiscard]] std::uint32_t clock() const {
    return base_ + 1 + static_cast<std::uint32_t>(phase_);
  }
  void complete_if_done();

  Agent agent_ = 0;
  Epoch initialiser_;
  std::uint32_t base_ = 0;
  std::uint64_t phase_ = 0;
  std::int64_t expected_ = 1;  ///< arrivals in each phase
  std::int64_t pending_ = 1;
  std::int64_t pending_bytes_ = 0;
  Knowledge arriving_;   ///< what arrivals of the current phase knew
  Knowledge completed_;  ///< what arrivals of the last completed phase knew
};

/// A block's mbarriers, by their offset in shared memory.
class Mbarriers {
 public:
  [[nodiscard]] Mbarrier* find(std::uint32_t offset);
  /// An mbarrier that overlaps these bytes; null: none.
  [[nodiscard]] const Mbarrier* overlapping(std::uint32_t offset, std::uint32_t bytes) const;
  [[nodiscard]] bool empty() const { return live_.empty(); }

  /// If this offset has never had an mbarrier, takes `fresh` as its agent and returns true.
  bool init(std::uint32_t offset, std::uint32_t count, Epoch initialiser, Agent fresh);
  void invalidate(std::uint32_t offset);

 private:
  struct Past {
    Agent agent = 0;
    std::uint32_t clock = 0;
  };
  std::map<std::uint32_t, Mbarrier> live_;
  std::map<std::uint32_t, Past> past_;
};

}  // namespace fatune::emulate
