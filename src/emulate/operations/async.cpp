#include <algorithm>
#include <array>
#include <cstdint>

#include "emulate/async/async_copies.hpp"
#include "emulate/async/mbarrier_access.hpp"
#include "emulate/memory/bank_conflicts.hpp"
#include "emulate/memory/memory_access.hpp"
#include "emulate/operations/operations.hpp"

// cp.async and its groups: PTX ISA 9.0, section 9.7.9.25.
namespace fatune::emulate {
namespace {

using enum ScalarType;

constexpr std::int64_t kMostPending = 1 << 20;

void start_copy(const Actor& by, std::uint64_t destination, std::uint64_t source,
                std::uint32_t source_bytes) {
  const std::uint32_t bytes = by.instruction.variant;
  const Access to{Space::shared, destination, bytes, bytes};
  const SharedPlace place = check_shared(by, to);
  if (!place) {
    return;
  }
  const std::uint32_t offset = place.offset;
  if (by.x.setup.checks.race) {
    report_shared(by, by.x.block_of(by.warp).shared.note_issue(by.accessor(), offset, bytes),
                  kCopiesToShared);
  }
  AsyncCopy copy;
  copy.source = source;
  copy.destination = offset;
  copy.instruction = static_cast<std::uint32_t>(by.x.index_of(by.instruction));
  copy.group = by.warp.committed[static_cast<std::size_t>(by.lane)];
  copy.order = by.warp.async_order++;
  copy.lane = static_cast<std::uint8_t>(by.lane);
  copy.bytes = static_cast<std::uint8_t>(bytes);
  copy.source_bytes = static_cast<std::uint8_t>(std::min(source_bytes, bytes));
  by.warp.copies.push_back(copy);
  if (lands_at_issue(by.x)) {
    land(by.x, by.warp, by.warp.copies.back());
  }
}

/// Operands: destination (2), source (2), bytes of the source.
void copy_async(Execution& x, Warp& warp, const Instruction& instruction, Mask mask) {
  const Operand* const operands = instruction.operands;
  std::array<std::uint64_t, kLanes> destinations{};
  std::array<std::uint64_t, kLanes> sources{};
  Mask reads = 0;  // a copy of no source bytes reads nothing
  for_each_lane(mask, [&](int lane) {
    const auto index = static_cast<std::size_t>(lane);
    destinations[index] = x.address(warp, operands, lane);
    sources[index] = x.address(warp, operands + 2, lane);
    const std::uint32_t source_bytes = x.word(warp, operands[4], lane);
    reads |= source_bytes > 0 ? lane_bit(lane) : 0U;
    start_copy({x, warp, instruction, lane}, destinations[index], sources[index], source_bytes);
  });
  count_access(x, instruction, Space::shared, destinations, mask, instruction.variant);
  x.counts(instruction).global_sectors += global_sectors(sources, reads, instruction.variant);
}

void commit_group(Execution&, Warp& warp, const Instruction&, Mask mask) {
  for_each_lane(mask, [&](int lane) { ++warp.committed[static_cast<std::size_t>(lane)]; });
}

void wait_group(Execution& x, Warp& warp, const Instruction& instruction, Mask mask) {
  await_copies(x, warp, mask, instruction.variant);
}

void wait_all(Execution& x, Warp& warp, const Instruction& instruction, Mask mask) {
  commit_group(x, warp, instruction, mask);
  await_copies(x, warp, mask, 0);
}

/// Operands: address (2).
void arrive_when_copied(Execution& x, Warp& warp, const Instruction& instruction, Mask mask) {
  for_each_lane(mask, [&](int lane) {
    const std::uint64_t address = shared_part(x.address(warp, instruction.operands, lane));
    const MbarrierPlace at = find_mbarrier({x, warp, instruction, lane}, address, Space::shared);
    if (!at) {
      return;
    }
    if (instruction.variant != 0) {
      report_misuse({x, warp, instruction, lane}, at.mbarrier->add_arrival());
    }
    warp.arrivals.push_back({static_cast<std::uint32_t>(x.index_of(instruction)), at.place.offset,
                             warp.async_order++, static_cast<std::uint8_t>(lane)});
    if (lands_at_issue(x)) {
      arrive_for(x, warp, warp.arrivals.size() - 1);
    }
  });
}

void decode_arrival(Decoder& d) {
  d.add_address(d.address(0));
  d.result.handler = &arrive_when_copied;
  d.result.variant = d.has("noinc") ? 0 : 1;  // 1: expects one more arrival
}

void decode_copy(Decoder& d) {
  d.unsupported_if(!d.has("shared") || !d.has("global") || d.operand_count() < 3, "this form");
  const AddressOperand from = d.address(1);
  d.malformed_if(!from.wide, "wrong source address");
  const std::int64_t bytes = d.immediate(2);
  d.malformed_if(bytes != 16 && (d.has("cg") || (bytes != 4 && bytes != 8)),
                 "a copy must have 4, 8 or 16 bytes (16 with .cg)");
  d.result.handler = &copy_async;
  d.result.variant = static_cast<std::uint32_t>(bytes);
  d.add_address(d.address(0));
  d.add_address(from);
  d.add(d.value(d.operand_count() > 3 ? 3 : 2, u32));
}

}  // namespace

void decode_cp(Decoder& d) {
  d.unsupported_if(d.part_count() < 2 || d.part(1) != "async" || d.has("reduce"));
  if (d.has("bulk")) {
    decode_bulk(d);
  } else if (d.has("mbarrier")) {
    decode_arrival(d);
  } else if (d.has("commit_group")) {
    d.result.handler = &commit_group;
  } else if (d.has("wait_all")) {
    d.result.handler = &wait_all;
  } else if (d.has("wait_group")) {
    d.result.handler = &wait_group;
    d.result.variant = d.count(0, kMostPending, "wrong number of groups");
  } else {
    decode_copy(d);
  }
}

}  // namespace fatune::emulate
