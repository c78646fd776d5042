#include "emulate/shared_memory.hpp"

#include <algorithm>

namespace fatune::emulate {
namespace {

/// The first of `count` bytes from `offset` on that is `value`, else nothing.
std::optional<std::uint32_t> first_of(const std::vector<std::uint8_t>& marks, std::uint32_t offset,
                                      std::uint32_t count, std::uint8_t value) {
  const auto from = marks.begin() + offset;
  const auto found = std::find(from, from + count, value);
  return found == from + count ? std::nullopt
                               : std::optional(static_cast<std::uint32_t>(found - marks.begin()));
}

/// The first of these accesses that `who` does not follow. Neighbours are mostly alike.
std::optional<std::uint32_t> first_unordered(const Accessor& who, const std::vector<Epoch>& epochs,
                                             std::uint32_t offset, std::uint32_t count) {
  Epoch good;
  for (std::uint32_t i = offset; i < offset + count; ++i) {
    if (epochs[i] == good) {
      continue;
    }
    if (!who.follows(epochs[i])) {
      return i;
    }
    good = epochs[i];
  }
  return std::nullopt;
}

void fill(std::vector<Epoch>& epochs, std::uint32_t offset, std::uint32_t count, Epoch epoch) {
  std::fill_n(epochs.begin() + offset, count, epoch);
}

void fill(std::vector<std::uint8_t>& marks, std::uint32_t offset, std::uint32_t count,
          std::uint8_t value) {
  std::fill_n(marks.begin() + offset, count, value);
}

}  // namespace

SharedMemory::SharedMemory(std::size_t bytes, std::size_t agents)
    : bytes_(bytes),
      initialised_(bytes),
      in_flight_(bytes),
      async_reads_(bytes),
      writes_(bytes),
      reads_(agents) {}

std::optional<SharedFault> SharedMemory::conflict(const Accessor& who, std::uint32_t offset,
                                                  std::uint32_t count, bool writes) const {
  if (const auto byte = first_of(in_flight_, offset, count, 1)) {
    return SharedFault{SharedFault::Kind::in_flight, *byte, writes_[*byte], true};
  }
  if (const auto byte = first_unordered(who, writes_, offset, count)) {
    return SharedFault{SharedFault::Kind::race, *byte, writes_[*byte], true};
  }
  return writes ? unread_conflict(who, offset, count) : std::nullopt;
}

std::optional<SharedFault> SharedMemory::unfenced_write(const VectorClock& fenced,
                                                        std::uint32_t offset,
                                                        std::uint32_t count) const {
  for (std::uint32_t i = offset; i < offset + count; ++i) {
    const Epoch write = writes_[i];
    const bool generic = !write.never() && write.agent() < reads_.size();
    if (generic && fenced.of(write.agent()) < write.clock()) {
      return SharedFault{SharedFault::Kind::unfenced, i, write, true};
    }
  }
  return std::nullopt;
}

std::optional<SharedFault> SharedMemory::unread_conflict(const Accessor& who, std::uint32_t offset,
                                                         std::uint32_t count) const {
  for (std::uint32_t i = offset; i < offset + count; ++i) {
    if (async_reads_[i] > 0) {
      return SharedFault{SharedFault::Kind::being_read, i, {}, false};
    }
  }
  for (const std::vector<Epoch>& reads : reads_) {
    if (reads.empty()) {
      continue;
    }
    if (const auto byte = first_unordered(who, reads, offset, count)) {
      return SharedFault{SharedFault::Kind::race, *byte, reads[*byte], false};
    }
  }
  return std::nullopt;
}

std::optional<SharedFault> SharedMemory::note_read(const Accessor& who, std::uint32_t offset,
                                                   std::uint32_t count) {
  std::optional<SharedFault> fault = conflict(who, offset, count, false);
  mark_read(who, offset, count);
  if (!fault) {
    if (const auto byte = first_of(initialised_, offset, count, 0)) {
      fault = SharedFault{SharedFault::Kind::uninitialised, *byte, {}, false};
    }
  }
  return fault;
}

void SharedMemory::mark_read(const Accessor& who, std::uint32_t offset, std::uint32_t count) {
  std::vector<Epoch>& reads = reads_[who.agent];
  if (reads.empty()) {
    reads.resize(bytes_.size());
  }
  fill(reads, offset, count, who.epoch());
}

std::optional<SharedFault> SharedMemory::note_write(const Accessor& who, std::uint32_t offset,
                                                    std::uint32_t count) {
  const std::optional<SharedFault> fault = conflict(who, offset, count, true);
  note_landing(who.epoch(), offset, count);
  return fault;
}

std::optional<SharedFault> SharedMemory::note_issue(const Accessor& who, std::uint32_t offset,
                                                    std::uint32_t count) {
  const std::optional<SharedFault> fault = conflict(who, offset, count, true);
  fill(in_flight_, offset, count, 1);
  fill(writes_, offset, count, who.epoch());  // so that a finding can say whose copy it is
  return fault;
}

void SharedMemory::note_landing(Epoch as, std::uint32_t offset, std::uint32_t count) {
  fill(in_flight_, offset, count, 0);
  fill(initialised_, offset, count, 1);
  fill(writes_, offset, count, as);
}

std::optional<SharedFault> SharedMemory::begin_async_read(const Accessor& who,
                                                          const VectorClock& fenced,
                                                          std::uint32_t offset,
                                                          std::uint32_t count) {
  std::optional<SharedFault> fault = conflict(who, offset, count, false);
  if (!fault) {
    if (const auto byte = first_of(initialised_, offset, count, 0)) {
      fault = SharedFault{SharedFault::Kind::uninitialised, *byte, {}, false};
    }
  }
  for (std::uint32_t i = offset; i < offset + count; ++i) {
    ++async_reads_[i];
  }
  return fault ? fault : unfenced_write(fenced, offset, count);
}

void SharedMemory::end_async_read(const Accessor& who, std::uint32_t offset, std::uint32_t count) {
  for (std::uint32_t i = offset; i < offset + count; ++i) {
    --async_reads_[i];
  }
  mark_read(who, offset, count);
}

}  // namespace fatune::emulate
