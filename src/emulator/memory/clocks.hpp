#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace fatune::emulate {

/// The number of an agent that accesses memory. The warps of a cluster come first, in order. Their
/// multipliers come next (Execution::multiplier). The mbarriers of the cluster come last: copies
/// that complete on an mbarrier write in its name.
using Agent = std::uint32_t;

struct Access;
struct Instruction;
struct Step;
struct Warp;

/// The time of an agent's access: the agent's clock, which counts synchronisations. 0: never.
/// source: Flanagan & Freund, "FastTrack: efficient and precise dynamic race detection" (2009)
class Epoch {
 public:
  constexpr Epoch() = default;
  constexpr Epoch(std::uint32_t clock, Agent agent, int lane)
      : bits_(std::uint64_t{clock} << 32U | std::uint64_t{agent} << 8U |
              static_cast<std::uint64_t>(lane)) {}

  [[nodiscard]] constexpr bool never() const { return bits_ == 0; }
  [[nodiscard]] constexpr std::uint32_t clock() const {
    return static_cast<std::uint32_t>(bits_ >> 32U);
  }
  [[nodiscard]] constexpr Agent agent() const {
    return static_cast<Agent>(bits_ >> 8U & 0xffffffU);
  }
  [[nodiscard]] constexpr int lane() const { return static_cast<int>(bits_ & 0xffU); }
  friend constexpr bool operator==(Epoch, Epoch) = default;

 private:
  std::uint64_t bits_ = 0;
};

/// An agent's knowledge of other agents. Everything that they did up to these clocks came before.
///
/// It is kept by warp, not by thread. Barriers and bar.warp.sync of all lanes order the lanes of a
/// warp. A synchronisation of some lanes counts for the whole warp. A race that only such a
/// divergent use hides is not found, but no false race is reported.
class VectorClock {
  using Clocks = std::vector<std::uint32_t>;

 public:
  [[nodiscard]] std::uint32_t of(Agent agent) const {
    return agent < known_.size() ? known_[agent] : 0;
  }
  void set(Agent agent, std::uint32_t clock) {
    if (agent >= known_.size()) {
      known_.resize(std::size_t{agent} + 1);
    }
    known_[agent] = clock;
  }
  /// Records that an access came before.
  void raise(Epoch before) { set(before.agent(), std::max(of(before.agent()), before.clock())); }
  void join(const VectorClock& other) {
    join(other.known_, known_);
    for (const auto& [cluster, known] : other.others_) {
      join(known, others_[cluster]);
    }
  }

  /// The clock of an agent of another cluster.
  [[nodiscard]] std::uint32_t of(std::uint32_t cluster, Agent agent) const {
    const auto other = others_.find(cluster);
    return other != others_.end() && agent < other->second.size() ? other->second[agent] : 0;
  }
  /// From now on, agents that are named without a cluster are those of `to`, not of `from`.
  void change_cluster(std::uint32_t from, std::uint32_t to) {
    others_[from] = std::exchange(known_, {});
    if (auto own = others_.extract(to)) {
      known_ = std::move(own.mapped());
    }
  }

 private:
  static void join(const Clocks& from, Clocks& to) {
    if (from.size() > to.size()) {
      to.resize(from.size());
    }
    std::transform(from.begin(), from.end(), to.begin(), to.begin(),
                   [](std::uint32_t a, std::uint32_t b) { return std::max(a, b); });
  }

  Clocks known_;
  std::map<std::uint32_t, Clocks> others_;  ///< keyed by cluster; mostly empty
};

/// The knowledge that a synchronisation passes on.
struct Knowledge {
  VectorClock seen;    ///< what came before
  VectorClock fenced;  ///< the part that the async proxy sees: a proxy fence came after it
  /// The part that came before a fence. Later relaxed writes pass it on. PTX requires the fence in
  /// the thread that writes. On all existing hardware, a fence in the thread whose writes are
  /// passed on is enough.
  VectorClock published;

  void join(const Knowledge& other) {
    seen.join(other.seen);
    fenced.join(other.fenced);
    published.join(other.published);
  }
  void change_cluster(std::uint32_t from, std::uint32_t to) {
    seen.change_cluster(from, to);
    fenced.change_cluster(from, to);
    published.change_cluster(from, to);
  }
};

/// The kind of an access. Copies and products make asynchronous accesses.
enum class AccessKind : std::uint8_t { read, write, async_read, async_write };

/// One access of one lane.
struct AccessEnd {
  const Instruction* instruction = nullptr;  ///< null: there was none
  Agent agent = 0;                           ///< a warp or its multiplier
  std::uint8_t lane = 0;
  AccessKind kind = AccessKind::read;

  friend constexpr bool operator==(const AccessEnd&, const AccessEnd&) = default;
  /// A mark that no access has.
  static constexpr AccessEnd nobody() { return {nullptr, ~Agent{0}, 0, AccessKind::read}; }
};

/// An accessing agent, and its knowledge of what has come before.
struct Accessor {
  Agent agent = 0;
  int lane = 0;
  const VectorClock* known = nullptr;  ///< the agent's own entry is its current clock
  const Instruction* instruction = nullptr;
  /// All lanes of the warp execute the instruction together (.sync). Their earlier reads are then
  /// complete, although they need a barrier to see each other's writes.
  bool together = false;

  [[nodiscard]] Epoch epoch() const { return {known->of(agent), agent, lane}; }
  [[nodiscard]] AccessEnd end(AccessKind kind) const {
    return {instruction, agent, static_cast<std::uint8_t>(lane), kind};
  }
  /// True if an access comes before everything that this accessor does now. Inlined: it is called
  /// for every word of every access.
  [[nodiscard, gnu::always_inline]] bool follows(Epoch before) const {
    if (before.never() || (before.agent() == agent && before.lane() == lane)) {
      return true;
    }
    return before.agent() == agent ? before.clock() < known->of(agent)
                                   : before.clock() <= known->of(before.agent());
  }
  /// True if a write by this accessor comes after the read at `before`.
  [[nodiscard]] bool follows_read(Epoch before) const {
    return (together && before.agent() == agent) || follows(before);
  }
};

// --- The knowledge that strong accesses pass on: PTX ISA 9.0, chapter 8 (memory consistency
// model) ---

/// The memory order of a strong access: ld, st, atom and red with .relaxed, .acquire, .release,
/// .volatile, .mmio.
struct MemoryOrder {
  bool acquires = false;
  bool releases = false;
};

/// A location that strong accesses use.
struct StrongLocation {
  VectorClock accessed;       ///< the strong accesses so far: they do not race with each other
  Knowledge released;         ///< what a thread learns by acquiring here
  std::uint32_t cluster = 0;  ///< the cluster of these agents
};

/// Strong locations of shared memory, by block and address.
using StrongLocations = std::map<std::pair<std::size_t, std::uint64_t>, StrongLocation>;
/// Strong locations of global memory, by address.
using GlobalLocations = std::map<std::uint64_t, StrongLocation>;

/// The effect of a warp's fences on its relaxed accesses.
struct FenceState {
  Knowledge released;  ///< what the warp knew at its last fence: its later writes pass it on
  Knowledge acquired;  ///< what its reads have found: its next fence acquires it
};

/// Makes the warp's accesses to a location strong during its lifetime.
class StrongAccess {
 public:
  StrongAccess(const Step& step, const Access& access, MemoryOrder order);
  ~StrongAccess();
  StrongAccess(const StrongAccess&) = delete;
  StrongAccess& operator=(const StrongAccess&) = delete;

  /// The access has read what others wrote, or has written what others may read.
  void reads();
  void writes();

 private:
  Warp& warp_;
  StrongLocation* location_ = nullptr;  ///< null: races are not checked
  MemoryOrder order_;
  VectorClock known_;      ///< excludes the strong accesses to this location
  std::uint32_t own_ = 0;  ///< the warp's clock
};

/// Executes fence.acq_rel, fence.sc or membar.
void order_by_fence(Warp& warp);

}  // namespace fatune::emulate
