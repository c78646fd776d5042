#include <bit>
#include <cstdint>

#include <fmt/format.h>

#include "emulate/async/mbarrier_access.hpp"
#include "emulate/memory/memory_access.hpp"
#include "emulate/operations/operations.hpp"

// Clusters, and instructions introduced with them: PTX ISA 9.0, sections 9.7.9.23 (mapa), 9.7.9.24
// (getctarank), 9.7.13.4 (barrier.cluster), 9.7.13.14 (elect.sync) and 9.7.19.5 (setmaxnreg).
namespace fatune::emulate {
namespace {

using enum ScalarType;

constexpr std::uint32_t kGeneric = 1;  ///< a flag in Instruction::variant
constexpr std::uint32_t kWide = 2;
constexpr std::uint32_t kRelaxed = 1;

void set_address(const Actor& by, std::uint64_t value) {
  if ((by.instruction.variant & kWide) != 0) {
    by.x.lanes<std::uint64_t>(by.warp, by.instruction.operands[0])[by.lane] = value;
  } else {
    by.x.lanes<std::uint32_t>(by.warp, by.instruction.operands[0])[by.lane] =
        static_cast<std::uint32_t>(value);
  }
}

/// Operands: result, address (2), rank.
void map_to_rank(Execution& x, Warp& warp, const Instruction& instruction, Mask mask) {
  for_each_actor(x, warp, instruction, mask, [&](const Actor& by) {
    const std::uint64_t address = by.address(1);
    const std::uint32_t rank = by.word(3);
    if (rank >= x.blocks.size()) {
      by.report(FindingKind::out_of_bounds, [&] {
        return fmt::format("block rank {} of a cluster of {}", rank, x.blocks.size());
      });
      return;
    }
    const auto own = static_cast<std::uint32_t>(shared_part(address)) & ((1U << kRankShift) - 1);
    const std::uint64_t mapped = cluster_address(rank, own);
    const bool generic = (instruction.variant & kGeneric) != 0;
    set_address(by, generic ? kSharedWindow + mapped : mapped);
  });
}

void rank_of_address(Execution& x, Warp& warp, const Instruction& instruction, Mask mask) {
  auto* to = x.lanes<std::uint32_t>(warp, instruction.operands[0]);
  for_each_actor(x, warp, instruction, mask, [&](const Actor& by) {
    const auto address = static_cast<std::uint32_t>(shared_part(by.address(1)));
    const std::uint32_t rank = address >> kRankShift;
    to[by.lane] = rank == 0 ? static_cast<std::uint32_t>(warp.block) : rank - 1;
  });
}

void arrive_at_cluster(Execution& x, Warp& warp, const Instruction& instruction, Mask mask) {
  for_each_actor(x, warp, instruction, mask, [&](const Actor& by) {
    if (has_lane(warp.at_cluster_barrier, by.lane)) {
      report_misuse(by, "a thread arrives at the cluster's barrier again without waiting");
    }
  });
  warp.at_cluster_barrier |= mask;
  warp.cluster_arrived |= mask;
  if (instruction.variant != kRelaxed) {
    x.cluster_barrier.joined.join(warp.clock);
  }
  warp.advance();
  x.note_progress();
  x.complete_cluster_barrier();
}

bool cluster_has_arrived(Execution&, Warp& warp, const Instruction&, Mask mask) {
  return (mask & ~warp.at_cluster_barrier) != 0 || (mask & warp.cluster_arrived) == 0;
}

void wait_for_cluster(Execution& x, Warp& warp, const Instruction& instruction, Mask mask) {
  if ((mask & ~warp.at_cluster_barrier) != 0) {
    report_misuse({x, warp, instruction, std::countr_zero(mask & ~warp.at_cluster_barrier)},
                  "waits at the cluster's barrier without having arrived there");
    return;
  }
  warp.at_cluster_barrier &= ~mask;
  warp.clock.join(x.cluster_barrier.completed);
}

/// Operands: the elected lane, whether it is this one, members. The lowest lane is elected.
void elect(Execution& x, Warp& warp, const Instruction& instruction, Mask mask) {
  const auto* members = x.lanes<Mask>(warp, instruction.operands[2]);
  auto* to = x.lanes<std::uint32_t>(warp, instruction.operands[0]);
  for_each_lane(mask, [&](int lane) {
    const int leader = std::countr_zero(members[lane] & mask);
    to[lane] = static_cast<std::uint32_t>(leader);
    set_mask(warp, instruction.operands[1], leader == lane ? kAllLanes : 0U, lane_bit(lane));
  });
}

void decode_mapa(Decoder& d) {
  const bool wide = d.type() == u64 || d.type() == b64;
  d.add(d.destination(0, d.type()));
  d.add_address(d.address_named(d.operand(1)));
  d.add(d.value(2, u32));
  d.result.handler = &map_to_rank;
  d.result.variant = (d.has("shared::cluster") ? 0U : kGeneric) | (wide ? kWide : 0U);
}

void decode_getctarank(Decoder& d) {
  d.add(d.destination(0, b32));
  d.add_address(d.address_named(d.operand(1)));
  d.result.handler = &rank_of_address;
}

void decode_elect(Decoder& d) {
  const auto [leader, elected] = d.pair(0);
  d.malformed_if(!d.has("sync") || elected.empty(), "elect.sync needs a lane and a predicate");
  d.add(d.destination_named(leader, b32));
  d.add(d.predicate_named(elected));
  d.add(d.value(1, b32));
  d.result.handler = &elect;
  d.gather(2);
}

void decode_setmaxnreg(Decoder& d) {
  constexpr std::int64_t kLeast = 24;
  constexpr std::int64_t kMost = 256;
  constexpr std::int64_t kUnit = 8;
  const std::int64_t registers = d.immediate(0);
  d.malformed_if(registers < kLeast || registers > kMost || registers % kUnit != 0,
                 "registers must be a multiple of 8 from 24 to 256");
  d.result.handler = &set_registers;
  d.result.condition = &registers_are_there;
  d.result.variant = static_cast<std::uint32_t>(registers);
  d.result.set_details(RegisterChange{d.has("dec")});
  d.result.flow = Flow::poll;
  d.result.waits = true;
}

}  // namespace

void decode_cluster_barrier(Decoder& d) {
  d.result.all_members = d.has("aligned");
  if (d.has("arrive")) {
    d.result.handler = &arrive_at_cluster;
    d.result.variant = d.has("relaxed") ? kRelaxed : 0;
  } else if (d.has("wait")) {
    d.result.handler = &wait_for_cluster;
    d.await(&cluster_has_arrived);
  } else {
    d.unsupported();
  }
}

std::span<const NamedOperation> cluster_operations() {
  static constexpr NamedOperation kOperations[] = {{"elect", decode_elect},
                                                   {"getctarank", decode_getctarank},
                                                   {"mapa", decode_mapa},
                                                   {"setmaxnreg", decode_setmaxnreg}};
  return kOperations;
}

}  // namespace fatune::emulate
