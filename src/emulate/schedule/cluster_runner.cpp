#include "emulate/schedule/cluster_runner.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include <fmt/format.h>

#include "emulate/async/async_copies.hpp"
#include "emulate/async/bulk_copies.hpp"
#include "emulate/async/warpgroup_products.hpp"
#include "emulate/async/watched_registers.hpp"
#include "emulate/schedule/barrier_votes.hpp"

namespace fatune::emulate {
namespace {

constexpr int kLongestTurn = 4096;  // instructions
// The number of times that all polling threads must poll in vain, with nothing happening between,
// before this counts as a deadlock.
constexpr int kMostVainPolls = 64;
constexpr std::uint64_t kImpatienceOneIn = 8;
// On random schedules, spinning groups are eligible in one of this many turns, even while others
// can continue.
constexpr std::uint64_t kSpinsToo = 4;

Mask members_of(const Execution& x, const Warp& warp, const Instruction& instruction, Mask active) {
  if (instruction.all_members) {
    return warp.alive;
  }
  const auto* masks = x.lanes<Mask>(warp, instruction.operands[instruction.members]);
  Mask members = 0;
  for_each_lane(active, [&](int lane) { members |= masks[lane]; });
  return members & warp.alive;
}

}  // namespace

ClusterRunner::Turn ClusterRunner::take_turn() {
  if (const Choice choice = choose(); choice.warp != nullptr) {
    return run_chosen(choice);
  }
  if (go_on()) {
    return Turn::went_on;
  }
  if (const Choice choice = choose_spinning(); choice.warp != nullptr) {
    return run_chosen(choice);
  }
  if (x_.any_alive()) {
    std::vector<WaitingGroup> waiting;
    collect_waiting(waiting);
    report_deadlock(waiting, "");
    return Turn::failed;
  }
  report_pending_loads(x_);
  return Turn::ended;
}

ClusterRunner::Turn ClusterRunner::run_chosen(const Choice& choice) {
  if (x_.setup.schedule.timing == Timing::random) {
    land_some(x_, *choice.warp);
    land_some_bulk(x_);
    land_some_products(x_, *choice.warp);
  }
  const std::uint64_t before = executed_;
  run_group(*choice.warp, choice.group);
  x_.launch.executed += executed_ - before;
  if (x_.launch.executed > x_.setup.limits.warp_instructions) {
    x_.end_at_limit("warp instructions", x_.setup.limits.warp_instructions);
  }
  if (x_.trapped || (x_.setup.stopped && x_.setup.stopped())) {
    return Turn::failed;
  }
  if (executed_ > x_.setup.most_warp_instructions && !choice.warp->groups.empty()) {
    const Group& group = choice.warp->groups.front();
    x_.report(FindingKind::deadlock, *choice.warp, at(group), std::countr_zero(group.mask), [&] {
      return fmt::format("more than {} instructions: it seems never to end",
                         x_.setup.most_warp_instructions);
    });
    return Turn::failed;
  }
  return x_.turn_ends && all_spin() ? Turn::spun : Turn::went_on;
}

bool ClusterRunner::all_spin() const {
  const auto goes_on = [](const Group& group) {
    return group.state == Group::State::runnable && !group.spins;
  };
  return std::ranges::none_of(
      x_.warps, [&](const Warp& warp) { return std::ranges::any_of(warp.groups, goes_on); });
}

bool ClusterRunner::go_on() { return land_next_bulk(x_) || arrive_next(x_) || give_up_polling(); }

bool ClusterRunner::give_up_polling() {
  vain_polls_ = x_.progress == last_progress_ ? vain_polls_ : 0;
  last_progress_ = x_.progress;
  if (vain_polls_ == kMostVainPolls) {
    return false;
  }
  bool any = false;
  for (Warp& warp : x_.warps) {
    for (Group& group : warp.groups) {
      if (group.state == Group::State::polling && !at(group).waits) {
        group.state = Group::State::runnable;
        group.gives_up = true;
        any = true;
      }
    }
  }
  vain_polls_ += any ? 1 : 0;
  return any;
}

ClusterRunner::Choice ClusterRunner::choose() {
  const std::size_t count = x_.warps.size();
  const bool shuffled = x_.setup.schedule.timing == Timing::random;
  const std::size_t first = shuffled ? x_.random() % count : turn_++ % count;
  const bool spinning_too = shuffled && x_.has_spun && x_.random() % kSpinsToo == 0;
  for (std::size_t i = 0; i < count; ++i) {
    Warp& warp = x_.warps[(first + i) % count];
    resume_pollers(warp);
    merge_groups(warp);
    const std::size_t group = choose_group(warp, spinning_too);
    if (group < warp.groups.size()) {
      return {&warp, group};
    }
  }
  return {};
}

ClusterRunner::Choice ClusterRunner::choose_spinning() {
  const std::size_t count = x_.warps.size();
  const std::size_t first = ++spinning_turn_;
  for (std::size_t i = 0; i < count; ++i) {
    Warp& warp = x_.warps[(first + i) % count];
    const std::size_t group = choose_group(warp, true);
    if (group < warp.groups.size()) {
      return {&warp, group};
    }
  }
  return {};
}

/// Chooses the group that is behind, so that diverged lanes meet again where control flow joins.
std::size_t ClusterRunner::choose_group(const Warp& warp, bool spinning_too) {
  std::size_t chosen = warp.groups.size();
  for (std::size_t i = 0; i < warp.groups.size(); ++i) {
    const Group& group = warp.groups[i];
    if (group.state == Group::State::runnable && (spinning_too || !group.spins) &&
        (chosen == warp.groups.size() || group.pc < warp.groups[chosen].pc)) {
      chosen = i;
    }
  }
  return chosen;
}

void ClusterRunner::resume_pollers(Warp& warp) {
  for (Group& group : warp.groups) {
    if (group.state == Group::State::polling &&
        at(group).condition(x_, warp, at(group), active_lanes(warp, group, at(group)))) {
      group.state = Group::State::runnable;
    }
  }
}

bool ClusterRunner::polled(Warp& warp, std::size_t index, const Instruction& instruction,
                           Mask active) {
  Group& group = warp.groups[index];
  const bool impatient =
      group.gives_up || (!instruction.waits && x_.setup.schedule.timing == Timing::random &&
                         x_.random() % kImpatienceOneIn == 0);
  group.gives_up = false;
  if (impatient || instruction.condition(x_, warp, instruction, active)) {
    return true;
  }
  group.state = Group::State::polling;
  return false;
}

void ClusterRunner::merge_groups(Warp& warp) {
  for (std::size_t i = 0; i + 1 < warp.groups.size(); ++i) {
    Group& group = warp.groups[i];
    for (std::size_t j = warp.groups.size(); --j > i;) {
      const Group& other = warp.groups[j];
      const bool may_meet =
          group.state != Group::State::at_barrier && other.state != Group::State::at_barrier;
      if (may_meet && group.pc == other.pc) {
        group.mask |= other.mask;
        group.state = Group::State::runnable;
        warp.groups.erase(warp.groups.begin() + static_cast<std::ptrdiff_t>(j));
      }
    }
  }
}

void ClusterRunner::run_group(Warp& warp, std::size_t index) {
  int budget = x_.setup.schedule.timing == Timing::random
                   ? 1 + static_cast<int>(x_.random() % kLongestTurn)
                   : kLongestTurn;
  x_.turn_ends = false;
  warp.groups[index].spins = false;
  while (budget-- > 0 && step(warp, index)) {
    if (warp.groups.size() > 1 && at(warp.groups[index]).leader) {
      return;
    }
  }
  if (x_.turn_ends && !x_.trapped) {
    warp.groups[index].spins = x_.has_spun = true;
    warp.groups[index].spins_at = warp.polls.last_address();
  }
}

Mask ClusterRunner::active_lanes(const Warp& warp, const Group& group,
                                 const Instruction& instruction) {
  if (instruction.guard < 0) {
    return group.mask;
  }
  const Mask guard = warp.predicates[static_cast<std::size_t>(instruction.guard)];
  return group.mask & (instruction.guard_negated ? ~guard : guard);
}

bool ClusterRunner::step(Warp& warp, std::size_t index) {
  Group& group = warp.groups[index];
  const Instruction& instruction = at(group);
  const Mask active = active_lanes(warp, group, instruction);
  ++executed_;
  if (active == 0 && instruction.flow != Flow::branch) {
    ++group.pc;
    return true;
  }
  switch (instruction.flow) {
    case Flow::branch:
      return branch(warp, index, instruction, active);
    case Flow::exit:
      return end_lanes(warp, index, active);
    case Flow::gather:
      if (!gathered(warp, index, instruction, active)) {
        return false;
      }
      break;
    case Flow::poll:
      if (instruction.all_members && !gathered(warp, index, instruction, active)) {
        return false;
      }
      split_inactive(warp, index, active);
      if (!polled(warp, index, instruction, active)) {
        return false;
      }
      break;
    case Flow::barrier:
      return gathered(warp, index, instruction, active) && arrive(warp, index, instruction, active);
    case Flow::next:
      break;
  }
  InstructionCounts& counts = x_.counts(instruction);
  ++counts.warps;
  counts.threads += static_cast<std::uint32_t>(std::popcount(active));
  if (instruction.watched >= 0) {
    check_watched(x_, warp, instruction);
  }
  instruction.handler(x_, warp, instruction, active);
  ++warp.groups[index].pc;
  return !x_.turn_ends;
}

bool ClusterRunner::branch(Warp& warp, std::size_t index, const Instruction& instruction,
                           Mask active) {
  InstructionCounts& counts = x_.counts(instruction);
  ++counts.warps;
  counts.threads += static_cast<std::uint32_t>(std::popcount(active));
  Group& group = warp.groups[index];
  if (active == group.mask) {
    group.pc = instruction.target;
    return true;
  }
  ++group.pc;
  if (active == 0) {
    return true;
  }
  group.mask &= ~active;
  warp.groups.push_back({instruction.target, active, Group::State::runnable, 0});
  return false;
}

bool ClusterRunner::end_lanes(Warp& warp, std::size_t index, Mask active) {
  Group& group = warp.groups[index];
  ++x_.counts(at(group)).warps;
  warp.alive &= ~active;
  report_pending(x_, warp);
  report_pending_stores(x_, warp);
  report_pending_products(x_, warp);
  x_.note_progress();
  group.mask &= ~active;
  ++group.pc;
  if (group.mask != 0) {
    return true;
  }
  warp.groups.erase(warp.groups.begin() + static_cast<std::ptrdiff_t>(index));
  // A group that waited for these lanes may now have all that are left.
  for (Group& other : warp.groups) {
    if (other.state == Group::State::gathering) {
      other.state = Group::State::runnable;
    }
  }
  complete_barriers(x_.block_of(warp));
  x_.complete_cluster_barrier();
  return false;
}

void ClusterRunner::split_inactive(Warp& warp, std::size_t index, Mask active) {
  Group& group = warp.groups[index];
  const Mask rest = group.mask & ~active;
  if (rest != 0) {
    group.mask = active;
    const std::int32_t next = group.pc + 1;
    warp.groups.push_back({next, rest, Group::State::runnable, 0});
  }
}

bool ClusterRunner::gathered(Warp& warp, std::size_t index, const Instruction& instruction,
                             Mask active) {
  const bool any_lanes = instruction.flow == Flow::barrier && !instruction.all_members;
  const Mask needed = any_lanes ? active : members_of(x_, warp, instruction, active);
  if ((needed & ~active) == 0) {
    split_inactive(warp, index, active);
    return true;
  }
  split_inactive(warp, index, active);
  warp.groups[index].state = Group::State::gathering;
  return false;
}

bool ClusterRunner::arrive(Warp& warp, std::size_t index, const Instruction& instruction,
                           Mask active) {
  ++x_.counts(instruction).warps;
  const int lane = std::countr_zero(active);
  const std::uint32_t number = x_.lanes<std::uint32_t>(warp, instruction.operands[0])[lane];
  const std::uint32_t count = instruction.details_as<BarrierShape>().counted
                                  ? x_.lanes<std::uint32_t>(warp, instruction.operands[1])[lane]
                                  : 0;
  if (number >= kBarriers || count % kLanes != 0) {
    x_.report(FindingKind::barrier_misuse, warp, instruction, lane, [&] {
      return fmt::format(
          "barrier {} for {} threads: there are {} barriers, for multiples of {} threads", number,
          count, kBarriers, kLanes);
    });
    x_.end_by_trap();
    return false;
  }
  Block& block = x_.block_of(warp);
  Barrier& barrier = block.barriers[number];
  if (barrier.arrived > 0 && barrier.expected != count) {
    x_.report(FindingKind::barrier_misuse, warp, instruction, lane, [&] {
      return fmt::format("barrier {} for {} threads, but others wait there for {}", number, count,
                         barrier.expected);
    });
  }
  barrier.expected = count;
  barrier.arrived += static_cast<std::uint32_t>(std::popcount(active));
  cast_votes(warp, instruction, active, barrier);
  barrier.instruction = static_cast<std::int32_t>(x_.index_of(instruction));
  barrier.joined.join(warp.clock);
  Group& group = warp.groups[index];
  if (instruction.waits) {
    group.state = Group::State::at_barrier;
    group.barrier = number;
  } else {
    warp.advance();
    ++group.pc;
  }
  complete_barriers(block);
  return !instruction.waits;
}

void ClusterRunner::complete_barriers(Block& block) {
  for (std::uint32_t number = 0; number < kBarriers; ++number) {
    const Barrier& barrier = block.barriers[number];
    const std::uint32_t expected =
        barrier.expected != 0 ? barrier.expected : x_.threads_alive(block);
    if (barrier.arrived > 0 && barrier.arrived >= expected) {
      release(block, number);
    }
  }
}

void ClusterRunner::release(Block& block, std::uint32_t number) {
  x_.note_progress();
  const Barrier done = std::exchange(block.barriers[number], {});
  for (Warp& warp : x_.warps_of(block)) {
    bool waited = false;
    for (Group& group : warp.groups) {
      if (group.state == Group::State::at_barrier && group.barrier == number) {
        group.state = Group::State::runnable;
        give_result(x_, warp, at(group), group.mask, done);
        ++group.pc;
        waited = true;
      }
    }
    if (waited) {
      warp.clock.join(done.joined);
      warp.advance();
    }
  }
}

void ClusterRunner::collect_waiting(std::vector<WaitingGroup>& waiting) const {
  for (Warp& warp : x_.warps) {
    for (const Group& group : warp.groups) {
      waiting.push_back({&x_, &warp, &group});
    }
  }
}

}  // namespace fatune::emulate
