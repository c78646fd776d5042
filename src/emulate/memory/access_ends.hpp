#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "emulate/memory/clocks.hpp"
#include "emulate/memory/shadow_plane.hpp"

// The instructions that made accesses. Epochs (clocks.hpp) do not contain them: that would slow
// down every run, and only findings need them.
namespace fatune::emulate {

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

/// The last writer and the last reader of each byte of a memory, kept in step with the marks of
/// that memory.
class AccessEnds {
 public:
  explicit AccessEnds(std::size_t bytes) : bytes_(bytes) {}

  void note_write(const AccessEnd& by, std::uint32_t offset, std::uint32_t count) {
    fill(writes_, by, offset, count);
  }
  void note_read(const AccessEnd& by, std::uint32_t offset, std::uint32_t count) {
    reads_.resize(std::max<std::size_t>(reads_.size(), by.agent + std::size_t{1}));
    fill(reads_[by.agent], by, offset, count);
  }
  /// Records that a copy or product begins to read.
  void begin_async_read(const AccessEnd& by, std::uint32_t offset, std::uint32_t count) {
    fill(async_reads_, by, offset, count);
  }
  [[nodiscard]] AccessEnd writer(std::uint32_t offset) const { return at(writes_, offset); }
  /// The last read by the agent.
  [[nodiscard]] AccessEnd reader(Agent agent, std::uint32_t offset) const {
    return agent < reads_.size() ? at(reads_[agent], offset) : AccessEnd{};
  }
  /// The copy or product that was the last one to begin reading.
  [[nodiscard]] AccessEnd async_reader(std::uint32_t offset) const {
    return at(async_reads_, offset);
  }

 private:
  using Plane = std::optional<ShadowPlane<AccessEnd>>;

  static AccessEnd at(const Plane& plane, std::uint32_t offset) {
    return plane ? plane->at(offset) : AccessEnd{};
  }
  void fill(Plane& plane, const AccessEnd& by, std::uint32_t offset, std::uint32_t count) {
    if (!plane) {
      plane.emplace(bytes_, AccessEnd::nobody());
    }
    plane->fill(offset, count, by);
  }

  std::size_t bytes_;
  Plane writes_;
  Plane async_reads_;
  std::vector<Plane> reads_;  ///< indexed by agent
};

}  // namespace fatune::emulate
