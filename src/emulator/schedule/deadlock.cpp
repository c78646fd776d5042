#include "emulator/schedule/cluster_runner.hpp"

#include <algorithm>
#include <bit>
#include <string>

#include <fmt/format.h>

#include "emulator/memory/memory_access.hpp"

namespace fatune::emulate {
namespace {

constexpr std::size_t kMostNamed = 32;

/// The instruction at which the group waits. The pc of a spinning group is already past its read.
std::size_t index_of(const WaitingGroup& waiting) {
  return static_cast<std::size_t>(waiting.group->pc - (waiting.group->spins ? 1 : 0));
}

Actor actor_of(const WaitingGroup& waiting) {
  return {*waiting.x, *waiting.warp, waiting.x->program.instructions[index_of(waiting)],
          std::countr_zero(waiting.group->mask)};
}

std::string polled_memory(const WaitingGroup& waiting) {
  const std::uint64_t address = waiting.group->spins_at;
  const bool global = address >= kParameterWindow + kWindowBytes;
  return global ? waiting.x->global.describe(address)
                : fmt::format("shared address {:#x}", shared_part(address));
}

/// The offset in shared memory of the mbarrier that a lane polls.
std::uint32_t polled_offset(const Actor& by) {
  const auto address = static_cast<std::uint32_t>(shared_part(by.address(1)));
  return cluster_address_of(by.warp, address).own - kSharedBase;
}

/// Describes what a polling lane waits for: "for the mbarrier at shared memory + 8, whose phase 1
/// waits for 1 of 1 arrivals and 64 bytes".
std::string describe_polling(const Actor& by) {
  switch (by.instruction.awaited) {
    case Awaited::registers:
      return fmt::format("for {} registers, but the block's pool has {}", missing_registers(by),
                         by.block().free_registers);
    case Awaited::products:
      return "for the other warps of its warpgroup to issue their products";
    case Awaited::cluster:
      return fmt::format("at the cluster's barrier, where {} threads have arrived",
                         by.x.arrived_at_cluster());
    case Awaited::mbarrier:
      break;
  }
  const std::uint32_t offset = polled_offset(by);
  const Mbarrier* const mbarrier = by.block().mbarriers.find(offset);
  return mbarrier == nullptr
             ? fmt::format("for an mbarrier at shared memory + {} that no longer exists", offset)
             : fmt::format("for the mbarrier at shared memory + {}, whose {}", offset,
                           mbarrier->describe());
}

std::string awaited(const WaitingGroup& waiting) {
  const auto& [x, warp, group] = waiting;
  if (group->spins) {
    return fmt::format("until {} changes", polled_memory(waiting));
  }
  if (group->state == Group::State::at_barrier) {
    const Barrier& barrier = x->blocks[warp->block].barriers[group->barrier];
    return barrier.expected == 0 ? fmt::format("at barrier {}", group->barrier)
                                 : fmt::format("at barrier {}, where {} of {} threads have arrived",
                                               group->barrier, barrier.arrived, barrier.expected);
  }
  return group->state == Group::State::gathering ? "for other lanes of the warp"
                                                 : describe_polling(actor_of(waiting));
}

/// `several`: whether several clusters wait for each other.
std::string block_name(const WaitingGroup& waiting, bool several) {
  const auto& [x, warp, group] = waiting;
  return several                 ? fmt::format("block {}, ", x->blocks[warp->block].index)
         : x->blocks.size() == 1 ? ""
                                 : fmt::format("block rank {}, ", warp->block);
}

std::string describe(const WaitingGroup& waiting, bool several) {
  const Mask mask = waiting.group->mask;
  return fmt::format("{}warp {}, {}: waits {} (PTX line {})", block_name(waiting, several),
                     waiting.warp->index,
                     mask == kAllLanes ? "all lanes" : fmt::format("lanes {:#010x}", mask),
                     awaited(waiting), waiting.x->program.lines[index_of(waiting)]);
}

bool spins(const WaitingGroup& waiting) { return waiting.group->spins; }
bool gathers(const WaitingGroup& waiting) {
  return waiting.group->state == Group::State::gathering;
}

/// Describes up to kMostNamed waits. If some groups spin, only those: the others wait for them.
std::string describe_all(const std::vector<WaitingGroup>& waiting) {
  const bool several = waiting.front().x != waiting.back().x;
  const bool some_spin = std::ranges::any_of(waiting, spins);
  std::string all;
  std::size_t named = 0;
  for (const WaitingGroup& one : waiting) {
    if (named < kMostNamed && (spins(one) || !some_spin)) {
      all += (named++ == 0 ? "" : "; ") + describe(one, several);
    }
  }
  return named == waiting.size() ? all
                                 : fmt::format("{}; and {} more", all, waiting.size() - named);
}

/// True if the group polls an mbarrier that has all its arrivals. Nothing can bring the bytes that
/// it lacks, so this wait is a cause from which others may follow.
bool waits_for_bytes(const WaitingGroup& waiting) {
  const Actor by = actor_of(waiting);
  if (spins(waiting) || waiting.group->state == Group::State::at_barrier || gathers(waiting) ||
      by.instruction.flow != Flow::poll || by.instruction.awaited != Awaited::mbarrier) {
    return false;
  }
  const Mbarrier* const mbarrier = by.block().mbarriers.find(polled_offset(by));
  return mbarrier != nullptr && mbarrier->pending() == 0 && mbarrier->pending_bytes() != 0;
}

/// Ranks a wait by how likely it is the cause from which others follow; 0 is the most likely. A
/// barrier that part of its threads have reached ranks before an mbarrier without any arrival.
int distance_from_cause(const WaitingGroup& waiting) {
  return waits_for_bytes(waiting) ? 0 : waiting.group->state == Group::State::at_barrier ? 1 : 2;
}

}  // namespace

void report_deadlock(std::vector<WaitingGroup> waiting, std::string_view also) {
  const bool divergent =
      std::ranges::any_of(waiting, gathers) && std::ranges::none_of(waiting, spins);
  const FindingKind kind = divergent ? FindingKind::divergent_barrier : FindingKind::deadlock;
  const std::string who = describe_all(waiting);
  std::ranges::stable_sort(waiting, {}, distance_from_cause);
  for (const WaitingGroup& one : waiting) {
    actor_of(one).report(kind, [&] { return fmt::format("no warp can go on: {}{}", who, also); });
  }
}

}  // namespace fatune::emulate
