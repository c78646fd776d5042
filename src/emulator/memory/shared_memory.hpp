#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "emulator/memory/clocks.hpp"
#include "emulator/memory/shadow_plane.hpp"

namespace fatune::emulate {

/// A fault of an access to shared memory.
struct SharedFault {
  enum class Kind : std::uint8_t {
    uninitialised,
    race,
    in_flight,   ///< an asynchronous copy to there is under way
    being_read,  ///< an asynchronous operation may still read there
    unfenced,    ///< the async proxy reads what the generic proxy wrote, with no fence between
  };
  Kind kind = Kind::race;
  std::uint32_t offset = 0;  ///< the first byte's offset
  Epoch other;               ///< race, in_flight, unfenced: the other access
  bool other_writes = false;
  std::optional<AccessEnd> by = std::nullopt;  ///< the other access, if ends are kept
};

/// A block's shared memory, with a shadow for every byte: its last writer, if any, its readers
/// since then, and whether an asynchronous copy to or from it is under way.
class SharedMemory {
 public:
  SharedMemory(std::size_t bytes, std::size_t agents);

  [[nodiscard]] std::size_t size() const { return bytes_.size(); }
  [[nodiscard]] bool holds(std::uint64_t offset, std::size_t count) const {
    return offset <= bytes_.size() && count <= bytes_.size() - offset;
  }
  [[nodiscard]] std::uint8_t* data(std::uint32_t offset) { return bytes_.data() + offset; }

  /// From now on, faults name the instruction of the other access. Costs time and memory.
  void keep_ends() { ends_.emplace(size()); }
  /// The last writer of a byte. Empty if ends are not kept.
  [[nodiscard]] std::optional<AccessEnd> writer(std::uint32_t offset) const {
    return ends_ ? std::optional(ends_->writer(offset)) : std::nullopt;
  }

  /// Records a read, even if it is wrong. Precondition: the memory holds the bytes.
  [[nodiscard]] std::optional<SharedFault> note_read(const Accessor& who, std::uint32_t offset,
                                                     std::uint32_t count) {
    const auto fault = find_read_fault(who, offset, count);
    mark_read(who, AccessKind::read, offset, count);
    return fault;
  }
  [[nodiscard]] std::optional<SharedFault> note_write(const Accessor& who, std::uint32_t offset,
                                                      std::uint32_t count) {
    const auto fault = find_write_fault(who, offset, count);
    note_landing(who.epoch(), offset, count);
    keep_writer(who, AccessKind::write, offset, count);
    return fault;
  }
  /// Records the issue of an asynchronous copy to these bytes. Returns a conflict with its write.
  [[nodiscard]] std::optional<SharedFault> note_issue(const Accessor& who, std::uint32_t offset,
                                                      std::uint32_t count) {
    const auto fault = find_write_fault(who, offset, count);
    const Epoch now = who.epoch();
    writes_.fill(offset, count, Epoch(now.clock(), now.agent(), now.lane() | kInFlight));
    keep_writer(who, AccessKind::async_write, offset, count);
    return fault;
  }
  /// Records that the copy has happened for agents that know `as`. From now on, it is a write at
  /// that epoch.
  void note_landing(Epoch as, std::uint32_t offset, std::uint32_t count) {
    writes_.fill(offset, count, as);
  }
  /// Records the issue of an asynchronous operation that reads these bytes through the async proxy,
  /// until end_async_read. `fenced`: the writes that this proxy sees.
  [[nodiscard]] std::optional<SharedFault> begin_async_read(const Accessor& who,
                                                            const VectorClock& fenced,
                                                            std::uint32_t offset,
                                                            std::uint32_t count);
  /// Records that the operation was waited for. From now on, it is a read by `who`.
  void end_async_read(const Accessor& who, std::uint32_t offset, std::uint32_t count);

 private:
  using Plane = ShadowPlane<Epoch>;

  /// A flag that is combined with the lane in the mark of a copy under way.
  static constexpr int kInFlight = 0x80;
  static constexpr Epoch kMixed{0, 0, 0xff};

  [[nodiscard]] static bool in_flight(Epoch write) { return (write.lane() & kInFlight) != 0; }

  void keep_writer(const Accessor& who, AccessKind kind, std::uint32_t offset,
                   std::uint32_t count) {
    if (ends_) [[unlikely]] {
      ends_->note_write(who.end(kind), offset, count);
    }
  }

  void mark_read(const Accessor& who, AccessKind kind, std::uint32_t offset, std::uint32_t count) {
    std::optional<Plane>& reads = reads_[who.agent];
    if (!reads) {
      reads.emplace(size(), kMixed);
    }
    reads->fill(offset, count, who.epoch());
    if (ends_) [[unlikely]] {
      ends_->note_read(who.end(kind), offset, count);
    }
  }

  [[nodiscard]] std::optional<SharedFault> find_read_fault(const Accessor& who,
                                                           std::uint32_t offset,
                                                           std::uint32_t count) const {
    const bool fine = writes_.none_of(offset, count, [&](Epoch write) {
      return write.never() || in_flight(write) || !who.follows(write);
    });
    return fine ? std::nullopt : find_fault(who, offset, count, false);
  }

  [[nodiscard]] std::optional<SharedFault> find_write_fault(const Accessor& who,
                                                            std::uint32_t offset,
                                                            std::uint32_t count) const {
    const auto unordered = [&](Epoch access) { return !who.follows(access); };
    const auto wrong = [&](Epoch write) { return in_flight(write) || unordered(write); };
    const auto unread = [&](Epoch read) { return !who.follows_read(read); };
    const auto ordered = [&](const std::optional<Plane>& reads) {
      return !reads || reads->none_of(offset, count, unread);
    };
    const bool fine = writes_.none_of(offset, count, wrong) && !async_read_at(offset, count) &&
                      std::ranges::all_of(reads_, ordered);
    return fine ? std::nullopt : find_fault(who, offset, count, true);
  }

  /// The first of these bytes that an asynchronous operation may still read.
  [[nodiscard]] std::optional<std::uint32_t> async_read_at(std::uint32_t offset,
                                                           std::uint32_t count) const;
  [[nodiscard]] std::optional<SharedFault> find_fault(const Accessor& who, std::uint32_t offset,
                                                      std::uint32_t count, bool writes) const;
  [[nodiscard]] std::optional<SharedFault> worst_fault(const Accessor& who, std::uint32_t offset,
                                                       std::uint32_t count, bool writes) const;

  std::vector<std::uint8_t> bytes_;
  Plane writes_;
  std::vector<std::uint16_t> async_reads_;   ///< number under way; empty before the first one
  std::vector<std::optional<Plane>> reads_;  ///< each agent's last reads; empty: none
  std::optional<AccessEnds> ends_;           ///< empty: not kept
};

}  // namespace fatune::emulate
