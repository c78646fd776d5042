#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "emulate/clocks.hpp"

namespace fatune::emulate {

/// What is wrong with an access to shared memory.
struct SharedFault {
  enum class Kind : std::uint8_t {
    uninitialised,
    race,
    in_flight,   ///< an asynchronous copy is on its way there
    being_read,  ///< an asynchronous operation may still read there
    unfenced,    ///< the async proxy reads what the generic one wrote, with no fence between
  };
  Kind kind = Kind::race;
  std::uint32_t offset = 0;  ///< of the first byte
  Epoch other;               ///< race, in_flight, unfenced: the other access
  bool other_writes = false;
};

/// A block's shared memory, with a shadow for every byte: whether it was written, by whom last, who
/// has read it since, and whether an asynchronous copy is on its way there.
class SharedMemory {
 public:
  SharedMemory(std::size_t bytes, std::size_t agents);

  [[nodiscard]] std::size_t size() const { return bytes_.size(); }
  [[nodiscard]] bool holds(std::uint64_t offset, std::size_t count) const {
    return offset <= bytes_.size() && count <= bytes_.size() - offset;
  }
  [[nodiscard]] std::uint8_t* data(std::uint32_t offset) { return bytes_.data() + offset; }

  /// Of bytes that the memory holds; the access is noted, right or wrong.
  [[nodiscard]] std::optional<SharedFault> note_read(const Accessor& who, std::uint32_t offset,
                                                     std::uint32_t count);
  [[nodiscard]] std::optional<SharedFault> note_write(const Accessor& who, std::uint32_t offset,
                                                      std::uint32_t count);
  /// An asynchronous copy to here is issued: what its write conflicts with is known now.
  [[nodiscard]] std::optional<SharedFault> note_issue(const Accessor& who, std::uint32_t offset,
                                                      std::uint32_t count);
  /// It has happened for those who know `as`: from now on it is a write at that epoch.
  void note_landing(Epoch as, std::uint32_t offset, std::uint32_t count);
  /// An asynchronous operation is issued that reads here, through the async proxy, until
  /// end_async_read. `fenced`: what the issuer knows that this proxy sees.
  [[nodiscard]] std::optional<SharedFault> begin_async_read(const Accessor& who,
                                                            const VectorClock& fenced,
                                                            std::uint32_t offset,
                                                            std::uint32_t count);
  /// It is waited for, by a thread that has read here so.
  void end_async_read(const Accessor& who, std::uint32_t offset, std::uint32_t count);

 private:
  [[nodiscard]] std::optional<SharedFault> unfenced_write(const VectorClock& fenced,
                                                          std::uint32_t offset,
                                                          std::uint32_t count) const;
  void mark_read(const Accessor& who, std::uint32_t offset, std::uint32_t count);
  [[nodiscard]] std::optional<SharedFault> conflict(const Accessor& who, std::uint32_t offset,
                                                    std::uint32_t count, bool writes) const;
  [[nodiscard]] std::optional<SharedFault> unread_conflict(const Accessor& who,
                                                           std::uint32_t offset,
                                                           std::uint32_t count) const;

  std::vector<std::uint8_t> bytes_;
  std::vector<std::uint8_t> initialised_;
  std::vector<std::uint8_t> in_flight_;
  std::vector<std::uint16_t> async_reads_;  ///< on their way: how many
  std::vector<Epoch> writes_;
  std::vector<std::vector<Epoch>> reads_;  ///< by agent that has read: its last read of each byte
};

}  // namespace fatune::emulate
