#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "emulate/memory/clocks.hpp"

// mbarrier objects in shared memory: PTX ISA 9.0, section 9.7.13.15.
namespace fatune::emulate {

/// A misuse of an mbarrier, in words; empty: none.
using MbarrierFault = std::string;

/// One mbarrier: arrivals and bytes that its current phase still waits for.
class Mbarrier {
 public:
  static constexpr std::uint32_t kBytes = 8;
  static constexpr std::int64_t kMostCount = (1 << 20) - 1;

  Mbarrier() = default;
  /// `base`: the agent's clock, above all that it had before.
  Mbarrier(Agent agent, std::uint32_t count, Epoch initialiser, std::uint32_t base);

  /// Phases completed so far.
  [[nodiscard]] std::uint64_t phase() const { return phase_; }
  [[nodiscard]] std::int64_t pending() const { return pending_; }
  [[nodiscard]] std::int64_t pending_bytes() const { return pending_bytes_; }
  [[nodiscard]] Agent agent() const { return agent_; }
  [[nodiscard]] Epoch initialiser() const { return initialiser_; }
  /// The epoch of copies that complete on the current phase.
  [[nodiscard]] Epoch epoch() const { return {clock(), agent_, 0}; }

  /// `known`: what the arriving warp hands over to the waiting ones; null with .relaxed.
  [[nodiscard]] MbarrierFault arrive(std::int64_t count, const Knowledge* known);
  /// As arrive; further phases expect as many fewer.
  [[nodiscard]] MbarrierFault arrive_drop(std::int64_t count, const Knowledge* known);
  /// One more arrival is expected in this phase.
  [[nodiscard]] MbarrierFault add_arrival();
  [[nodiscard]] MbarrierFault expect(std::int64_t bytes);
  [[nodiscard]] MbarrierFault complete(std::int64_t bytes);

  /// Whether the phase of that number, or of that parity, has completed.
  [[nodiscard]] bool has_completed(std::uint64_t phase) const { return phase_ > phase; }
  [[nodiscard]] bool has_completed_parity(std::uint32_t parity) const {
    return (phase_ & 1U) != (parity & 1U);
  }
  /// The knowledge that warps gain by waiting for the last completed phase.
  [[nodiscard]] const Knowledge& completed() const { return completed_; }

  /// An opaque value of an arrival: what waits, and pending_count, take.
  [[nodiscard]] std::uint64_t state() const;
  static std::uint64_t phase_of(std::uint64_t state) { return state >> kCountBits; }
  static std::uint64_t pending_of(std::uint64_t state) {
    return state & ((std::uint64_t{1} << kCountBits) - 1);
  }

  /// "phase 3 waits for 1 of 2 arrivals and 4096 bytes".
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
  std::int64_t expected_ = 1;  ///< arrivals of each phase
  std::int64_t pending_ = 1;
  std::int64_t pending_bytes_ = 0;
  Knowledge arriving_;   ///< of the current phase
  Knowledge completed_;  ///< of the last one
};

/// A block's mbarriers, by their offset in shared memory.
class Mbarriers {
 public:
  [[nodiscard]] Mbarrier* find(std::uint32_t offset);
  /// The one that these bytes belong to, in part; null: none.
  [[nodiscard]] const Mbarrier* overlapping(std::uint32_t offset, std::uint32_t bytes) const;
  [[nodiscard]] bool empty() const { return live_.empty(); }

  /// `fresh` is the agent's number if this place has never had an mbarrier; true when it is taken.
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
