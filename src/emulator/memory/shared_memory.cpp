#include "emulator/memory/shared_memory.hpp"

namespace fatune::emulate {

SharedMemory::SharedMemory(std::size_t bytes, std::size_t agents)
    : bytes_(bytes), writes_(bytes, kMixed), reads_(agents) {}

/// The worst fault. A copy under way is the worst, since its bytes are unreliable. An unordered
/// access may come before or after. Bytes that were never written are at least always the same.
std::optional<SharedFault> SharedMemory::worst_fault(const Accessor& who, std::uint32_t offset,
                                                     std::uint32_t count, bool writes) const {
  using Kind = SharedFault::Kind;
  const auto unordered = [&](Epoch access) { return !who.follows(access); };
  if (const auto byte = writes_.first_of(offset, count, in_flight)) {
    const Epoch copy = writes_.at(*byte);
    return SharedFault{Kind::in_flight, *byte,
                       Epoch(copy.clock(), copy.agent(), copy.lane() & ~kInFlight), true};
  }
  if (const auto byte = writes_.first_of(offset, count, unordered)) {
    return SharedFault{Kind::race, *byte, writes_.at(*byte), true};
  }
  if (!writes) {
    const auto byte = writes_.first_of(offset, count, [](Epoch write) { return write.never(); });
    return byte ? std::optional(SharedFault{Kind::uninitialised, *byte, {}, false}) : std::nullopt;
  }
  if (const auto byte = async_read_at(offset, count)) {
    return SharedFault{Kind::being_read, *byte, {}, false};
  }
  const auto unread = [&](Epoch read) { return !who.follows_read(read); };
  for (const std::optional<Plane>& reads : reads_) {
    if (const auto byte = reads ? reads->first_of(offset, count, unread) : std::nullopt) {
      return SharedFault{Kind::race, *byte, reads->at(*byte), false};
    }
  }
  return std::nullopt;
}

std::optional<SharedFault> SharedMemory::find_fault(const Accessor& who, std::uint32_t offset,
                                                    std::uint32_t count, bool writes) const {
  std::optional<SharedFault> fault = worst_fault(who, offset, count, writes);
  if (fault && ends_ && fault->kind != SharedFault::Kind::uninitialised) {
    fault->by = fault->kind == SharedFault::Kind::being_read ? ends_->async_reader(fault->offset)
                : fault->other_writes                        ? ends_->writer(fault->offset)
                                      : ends_->reader(fault->other.agent(), fault->offset);
  }
  return fault;
}

std::optional<std::uint32_t> SharedMemory::async_read_at(std::uint32_t offset,
                                                         std::uint32_t count) const {
  if (async_reads_.empty()) {
    return std::nullopt;
  }
  const auto from = async_reads_.begin() + offset;
  const auto found =
      std::find_if(from, from + count, [](std::uint16_t on_way) { return on_way > 0; });
  return found == from + count
             ? std::nullopt
             : std::optional(static_cast<std::uint32_t>(found - async_reads_.begin()));
}

std::optional<SharedFault> SharedMemory::begin_async_read(const Accessor& who,
                                                          const VectorClock& fenced,
                                                          std::uint32_t offset,
                                                          std::uint32_t count) {
  async_reads_.resize(size());
  for (std::uint32_t i = offset; i < offset + count; ++i) {
    ++async_reads_[i];
  }
  if (ends_) {
    ends_->begin_async_read(who.end(AccessKind::async_read), offset, count);
  }
  if (const auto fault = find_read_fault(who, offset, count)) {
    return fault;
  }
  const auto unfenced = [&](Epoch write) {
    const bool generic = !write.never() && write.agent() < reads_.size();
    return generic && fenced.of(write.agent()) < write.clock();
  };
  if (writes_.none_of(offset, count, unfenced)) {
    return std::nullopt;
  }
  const std::uint32_t byte = writes_.first_of(offset, count, unfenced).value();
  return SharedFault{SharedFault::Kind::unfenced, byte, writes_.at(byte), true, writer(byte)};
}

void SharedMemory::end_async_read(const Accessor& who, std::uint32_t offset, std::uint32_t count) {
  for (std::uint32_t i = offset; i < offset + count; ++i) {
    --async_reads_[i];
  }
  mark_read(who, AccessKind::async_read, offset, count);
}

}  // namespace fatune::emulate
