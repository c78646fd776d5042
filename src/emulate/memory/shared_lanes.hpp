#pragma once

#include <array>
#include <cstdint>

#include "emulate/execution.hpp"
#include "emulate/memory/memory_access.hpp"

// Accesses of a warp's lanes to shared memory that are all valid, except perhaps for races. This is
// a fast way to do what memory_access.hpp does lane by lane.
namespace fatune::emulate {

using Addresses = std::array<std::uint64_t, kLanes>;

/// True if these accesses, of `bytes` (a power of two) each, are aligned and in bounds. If not, use
/// read_memory or write_memory, which report what is wrong.
[[nodiscard]] inline bool all_in_shared(Execution& x, const Warp& warp, const Addresses& addresses,
                                        Mask mask, std::uint32_t bytes) {
  const std::size_t room = x.block_of(warp).shared.size();
  if (bytes > room) {
    return false;
  }
  bool inside = true;
  for_each_lane(mask, [&](int lane) {
    const std::uint64_t address = addresses[static_cast<std::size_t>(lane)];
    inside &= (address & (bytes - 1)) == 0 && address - kSharedBase <= room - bytes;
  });
  return inside;
}

/// Calls `take(lane, bytes)` for each lane. Precondition: all_in_shared.
template <typename Take>
void read_shared_lanes(Execution& x, Warp& warp, const Instruction& instruction,
                       const Addresses& addresses, Mask mask, std::uint32_t bytes, Take take) {
  SharedMemory& shared = x.block_of(warp).shared;
  const bool checks = x.setup.checks.race;
  for_each_actor(x, warp, instruction, mask, [&](const Actor& by) {
    const auto offset =
        static_cast<std::uint32_t>(addresses[static_cast<std::size_t>(by.lane)]) - kSharedBase;
    take(by.lane, shared.data(offset));
    if (checks) {
      report_shared(by, shared.note_read(by.accessor(), offset, bytes), kReadsShared);
    }
  });
}

/// Calls `put(lane, bytes)`, which writes the bytes, for each lane. Precondition: all_in_shared.
template <typename Put>
void write_shared_lanes(Execution& x, Warp& warp, const Instruction& instruction,
                        const Addresses& addresses, Mask mask, std::uint32_t bytes, Put put) {
  Block& block = x.block_of(warp);
  SharedMemory& shared = block.shared;
  const bool checks = x.setup.checks.race;
  for_each_actor(x, warp, instruction, mask, [&](const Actor& by) {
    const auto offset =
        static_cast<std::uint32_t>(addresses[static_cast<std::size_t>(by.lane)]) - kSharedBase;
    if (!keeps_mbarriers(by, {&block, offset}, bytes)) {
      return;
    }
    put(by.lane, shared.data(offset));
    if (checks) {
      report_shared(by, shared.note_write(by.accessor(), offset, bytes), kWritesShared);
    }
  });
}

}  // namespace fatune::emulate
