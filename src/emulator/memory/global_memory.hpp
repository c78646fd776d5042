#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "emulator/memory/clocks.hpp"
#include "emulator/memory/shadow_plane.hpp"

namespace fatune::emulate {

/// One allocation of device memory.
struct Allocation {
  std::string name;  ///< "Q"
  std::uint64_t address = 0;
  std::vector<std::uint8_t> bytes{};
  std::vector<std::uint8_t> initialised{};  ///< 1 for each byte that was written; empty: all were
  std::vector<std::int64_t> shape{};        ///< lengths in elements, outermost first; may be empty
  std::int64_t element_bytes = 1;

  [[nodiscard]] std::uint64_t end() const { return address + bytes.size(); }
};

/// Device memory. Wide gaps separate the allocations, so that a stray access hits none of them.
class GlobalMemory {
 public:
  enum class Content { given, undefined };

  /// Allocates `bytes` with their values, or the same number of undefined bytes. Returns the
  /// address, a multiple of 256.
  std::uint64_t allocate(Allocation allocation, Content content = Content::given);
  /// Adds a variable of the module at its given address. A variable that is already there keeps its
  /// content: later launches see what earlier ones left in it.
  void place(Allocation allocation);

  /// The allocation that holds these bytes; null: they are not in one.
  [[nodiscard]] Allocation* find(std::uint64_t address, std::uint64_t bytes);
  /// The index of an allocation, which stays the same until another one is added.
  [[nodiscard]] std::size_t index_of(const Allocation& allocation) const {
    return static_cast<std::size_t>(&allocation - allocations_.data());
  }
  /// Describes an address for messages: "Q [0, 17, 0, 64]" or "4 bytes after the end of Q".
  [[nodiscard]] std::string describe(std::uint64_t address) const;
  [[nodiscard]] const Allocation& at(std::uint64_t address) const;

 private:
  std::vector<Allocation> allocations_;  ///< sorted by address
  std::size_t last_ = 0;                 ///< index of the allocation that was found last
  std::uint64_t next_ = 0;
};

/// The Epoch of an access by a thread of any cluster of a launch, and the thread's cluster.
class GlobalEpoch {
 public:
  static constexpr std::uint32_t kMostClusters = 1U << 22U;

  constexpr GlobalEpoch() = default;
  constexpr GlobalEpoch(std::uint32_t cluster, Epoch epoch)
      : bits_(std::uint64_t{cluster} << 42U | std::uint64_t{epoch.agent()} << 32U |
              std::uint64_t{epoch.clock()} << 5U | static_cast<std::uint64_t>(epoch.lane())) {}
  /// A mark that no access has.
  static constexpr GlobalEpoch nobody() {
    GlobalEpoch epoch;
    epoch.bits_ = ~std::uint64_t{0};
    return epoch;
  }

  [[nodiscard]] constexpr bool never() const { return bits_ == 0; }
  [[nodiscard]] constexpr std::uint32_t cluster() const {
    return static_cast<std::uint32_t>(bits_ >> 42U);
  }
  [[nodiscard]] constexpr Epoch epoch() const {
    return {static_cast<std::uint32_t>(bits_ >> 5U & 0x7ffffffU),
            static_cast<Agent>(bits_ >> 32U & 0x3ffU), static_cast<int>(bits_ & 31U)};
  }
  friend constexpr bool operator==(GlobalEpoch, GlobalEpoch) = default;

 private:
  std::uint64_t bits_ = 0;
};

/// An accessor of global memory, and its knowledge of what has come before.
struct GlobalAccessor {
  std::uint32_t cluster = 0;
  Accessor thread;

  [[nodiscard]] GlobalEpoch epoch() const { return {cluster, thread.epoch()}; }
  [[nodiscard]] bool follows(GlobalEpoch before) const {
    const Epoch epoch = before.epoch();
    return before.never() ||
           (before.cluster() == cluster
                ? thread.follows(epoch)
                : epoch.clock() <= thread.known->of(before.cluster(), epoch.agent()));
  }
};

/// Two accesses, at least one of which writes, that nothing orders.
struct GlobalRace {
  std::uint64_t offset = 0;  ///< the first byte's offset in the allocation
  GlobalEpoch other;
  bool other_writes = false;
  std::optional<AccessEnd> by = std::nullopt;  ///< the other access, if ends are kept
};

/// The last writer and the last reader of each byte of global memory in a launch. Earlier readers
/// are forgotten, so a race with one of them may not be found.
class GlobalShadow {
 public:
  /// If true, races name the instruction of the other access, except in allocations of many
  /// megabytes.
  void keep_ends(bool keep) { keeps_ends_ = keep; }
  /// Records a read or a write of an allocation of `size` bytes, given by its number, even if it is
  /// wrong.
  [[nodiscard]] std::optional<GlobalRace> note(const GlobalAccessor& who, std::size_t allocation,
                                               std::size_t size, std::uint64_t offset,
                                               std::uint32_t count, bool writes);

 private:
  using Plane = ShadowPlane<GlobalEpoch>;
  struct Planes {
    std::optional<Plane> writes;
    std::optional<Plane> reads;
    std::optional<AccessEnds> ends;  ///< empty: not kept
  };

  /// Null if accesses to the allocation are not tracked.
  [[nodiscard]] Planes* planes_of(const GlobalAccessor& who, std::size_t allocation,
                                  std::size_t size);

  std::vector<Planes> planes_;  ///< indexed like the allocations
  bool keeps_ends_ = false;
};

}  // namespace fatune::emulate
