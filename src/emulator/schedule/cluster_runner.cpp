#include "emulator/schedule/cluster_runner.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include <fmt/format.h>

#include "emulator/async/copies.hpp"
#include "emulator/async/warpgroup_products.hpp"

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

/// The lanes that execute the instruction together.
Mask members_of(const Step& step) {
  Mask members = 0;
  if (!step.instruction.all_members) {
    const auto* const masks = step.words(step.instruction.members);
    step.for_each([&](int lane) { members |= masks[lane]; });
  }
  return (step.instruction.all_members ? kAllLanes : members) & step.warp.alive;
}

/// Counts the predicates that arriving lanes bring to a barrier: PTX ISA 9.0, section 9.7.13.1.
void cast_votes(const Step& step, Barrier& barrier) {
  const auto shape = step.instruction.details_as<BarrierShape>();
  if (shape.vote != BarrierVote::none) {
    const Mask yes = step.condition(shape.counted ? 2 : 1) & step.mask;
    barrier.yes += static_cast<std::uint32_t>(std::popcount(yes));
  }
}

/// Gives these lanes the result of a barrier that has completed.
void give_result(const Step& step, const Barrier& barrier) {
  const auto shape = step.instruction.details_as<BarrierShape>();
  const std::size_t result = shape.counted ? 3 : 2;
  const auto set = [&](bool value) {
    step.set_predicate(result, value ? kAllLanes : 0U, step.mask);
  };
  switch (shape.vote) {
    case BarrierVote::none:
      return;
    case BarrierVote::all:
      return set(barrier.yes == barrier.arrived);
    case BarrierVote::any:
      return set(barrier.yes != 0);
    case BarrierVote::count:
      step.for_each([&](int lane) { step.words(result)[lane] = barrier.yes; });
  }
}

void count_execution(const Step& step) {
  InstructionCounts& counts = step.counts();
  ++counts.warps;
  counts.threads += static_cast<std::uint32_t>(std::popcount(step.mask));
}

const Instruction& instruction_at(const Execution& x, const Group& group) {
  return x.program.instructions[static_cast<std::size_t>(group.pc)];
}

/// The next instruction of a group, and the lanes that its guard lets execute it.
Step step_of(Execution& x, Warp& warp, const Group& group) {
  const Instruction& instruction = instruction_at(x, group);
  Step step{x, warp, instruction, group.mask};
  if (instruction.guard >= 0) {
    const Mask guard = warp.predicates[static_cast<std::size_t>(instruction.guard)];
    step.mask &= instruction.guard_negated ? ~guard : guard;
  }
  return step;
}

/// True if every runnable group spins.
bool all_spin(const Execution& x) {
  const auto goes_on = [](const Group& group) {
    return group.state == Group::State::runnable && !group.spins;
  };
  return std::ranges::none_of(
      x.warps, [&](const Warp& warp) { return std::ranges::any_of(warp.groups, goes_on); });
}

/// True if the schedule keeps this warp behind all others.
bool lags(const Execution& x, const Warp& warp) {
  if (x.setup.schedule.timing != Timing::lagging) {
    return false;
  }
  const std::size_t of_block = x.warps.size() / x.blocks.size();
  const auto index = static_cast<std::size_t>(&warp - x.warps.data());
  return of_block > 1 && index % of_block == x.setup.schedule.seed % of_block;
}

/// Chooses the group that is behind, so that diverged lanes meet again where control flow joins.
std::size_t choose_group(const Warp& warp, bool spinning_too) {
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

void resume_pollers(Execution& x, Warp& warp) {
  for (Group& group : warp.groups) {
    if (group.state == Group::State::polling &&
        instruction_at(x, group).condition(step_of(x, warp, group))) {
      group.state = Group::State::runnable;
    }
  }
}

/// True if the group need not wait, or has waited long enough.
bool polled(const Step& step, Group& group) {
  const bool impatient = group.gives_up || (!step.instruction.waits &&
                                            step.x.setup.schedule.timing == Timing::random &&
                                            step.x.random() % kImpatienceOneIn == 0);
  group.gives_up = false;
  if (impatient || step.instruction.condition(step)) {
    return true;
  }
  group.state = Group::State::polling;
  return false;
}

void merge_groups(Warp& warp) {
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

/// The most instructions that a group may execute in a turn.
int longest_turn(Execution& x, const Warp& warp, const Group& group) {
  if (x.setup.schedule.timing == Timing::random) {
    return 1 + static_cast<int>(x.random() % kLongestTurn);
  }
  return lags(x, warp) && !group.spins ? 1 : kLongestTurn;  // a poll in vain ends a turn, too
}

/// Lets lanes that a guard excludes from a collective instruction continue without it.
void split_inactive(const Step& step, std::size_t index) {
  Group& group = step.warp.groups[index];
  const Mask rest = group.mask & ~step.mask;
  if (rest != 0) {
    group.mask = step.mask;
    const std::int32_t next = group.pc + 1;
    step.warp.groups.push_back({next, rest, Group::State::runnable, 0});
  }
}

bool gathered(const Step& step, std::size_t index) {
  const bool any_lanes = step.instruction.flow == Flow::barrier && !step.instruction.all_members;
  const Mask needed = any_lanes ? step.mask : members_of(step);
  split_inactive(step, index);
  if ((needed & ~step.mask) == 0) {
    return true;
  }
  step.warp.groups[index].state = Group::State::gathering;
  return false;
}

void release(Execution& x, Block& block, std::uint32_t number) {
  x.note_progress();
  const Barrier done = std::exchange(block.barriers[number], {});
  for (Warp& warp : x.warps_of(block)) {
    bool waited = false;
    for (Group& group : warp.groups) {
      if (group.state == Group::State::at_barrier && group.barrier == number) {
        group.state = Group::State::runnable;
        give_result({x, warp, instruction_at(x, group), group.mask}, done);
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

void complete_barriers(Execution& x, Block& block) {
  for (std::uint32_t number = 0; number < kBarriers; ++number) {
    const Barrier& barrier = block.barriers[number];
    const std::uint32_t expected =
        barrier.expected != 0 ? barrier.expected : x.threads_alive(block);
    if (barrier.arrived > 0 && barrier.arrived >= expected) {
      release(x, block, number);
    }
  }
}

// Each of these functions executes an instruction of the group with this index that affects the
// control flow, or prepares it. They return true if the group may continue at once.

bool branch(const Step& step, std::size_t index) {
  count_execution(step);
  Group& group = step.warp.groups[index];
  if (step.mask == group.mask) {
    group.pc = step.instruction.target;
    return true;
  }
  ++group.pc;
  if (step.mask == 0) {
    return true;
  }
  group.mask &= ~step.mask;
  step.warp.groups.push_back({step.instruction.target, step.mask, Group::State::runnable, 0});
  return false;
}

bool end_lanes(const Step& step, std::size_t index) {
  Warp& warp = step.warp;
  Group& group = warp.groups[index];
  ++step.counts().warps;
  warp.alive &= ~step.mask;
  report_pending(step.x, warp);
  report_pending_stores(step.x, warp);
  report_pending_products(step.x, warp);
  step.x.note_progress();
  group.mask &= ~step.mask;
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
  complete_barriers(step.x, step.block());
  step.x.complete_cluster_barrier();
  return false;
}

bool arrive_at_barrier(const Step& step, std::size_t index) {
  ++step.counts().warps;
  const Actor by = step.by(step.first());
  const std::uint32_t number = by.word(0);
  const std::uint32_t count = step.instruction.details_as<BarrierShape>().counted ? by.word(1) : 0;
  if (number >= kBarriers || count % kLanes != 0) {
    by.report(FindingKind::barrier_misuse, [&] {
      return fmt::format(
          "barrier {} for {} threads: there are {} barriers, for multiples of {} threads", number,
          count, kBarriers, kLanes);
    });
    step.x.end_by_trap();
    return false;
  }
  Barrier& barrier = step.block().barriers[number];
  if (barrier.arrived > 0 && barrier.expected != count) {
    by.report(FindingKind::barrier_misuse, [&] {
      return fmt::format("barrier {} for {} threads, but others wait there for {}", number, count,
                         barrier.expected);
    });
  }
  barrier.expected = count;
  barrier.arrived += static_cast<std::uint32_t>(std::popcount(step.mask));
  cast_votes(step, barrier);
  barrier.joined.join(step.warp.clock);
  Group& group = step.warp.groups[index];
  if (step.instruction.waits) {
    group.state = Group::State::at_barrier;
    group.barrier = number;
  } else {
    step.warp.advance();
    ++group.pc;
  }
  complete_barriers(step.x, step.block());
  return !step.instruction.waits;
}

}  // namespace

ClusterRunner::Turn ClusterRunner::take_turn() {
  if (const Choice choice = choose(); choice.warp != nullptr) {
    return run_chosen(choice);
  }
  if (land_next_bulk(x_) || arrive_next(x_)) {
    return Turn::went_on;
  }
  if (const Choice choice = choose_from(0, false, true); choice.warp != nullptr) {
    return run_chosen(choice);
  }
  if (give_up_polling()) {
    return Turn::went_on;
  }
  if (const Choice choice = choose_from(++spinning_turn_, true); choice.warp != nullptr) {
    return run_chosen(choice);
  }
  if (const Choice choice = choose_from(0, true, true); choice.warp != nullptr) {
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
    const Step step{x_, *choice.warp, instruction_at(x_, group), group.mask};
    step.report(FindingKind::deadlock, step.first(), [&] {
      return fmt::format("more than {} instructions: it seems never to end",
                         x_.setup.most_warp_instructions);
    });
    return Turn::failed;
  }
  return x_.turn_ends && all_spin(x_) ? Turn::spun : Turn::went_on;
}

bool ClusterRunner::give_up_polling() {
  vain_polls_ = x_.progress == last_progress_ ? vain_polls_ : 0;
  last_progress_ = x_.progress;
  if (vain_polls_ == kMostVainPolls) {
    return false;
  }
  bool any = false;
  for (Warp& warp : x_.warps) {
    for (Group& group : warp.groups) {
      if (group.state == Group::State::polling && !instruction_at(x_, group).waits) {
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
  const bool shuffled = x_.setup.schedule.timing == Timing::random;
  const std::size_t first = shuffled ? x_.random() : turn_++;
  const bool spinning_too = shuffled && x_.has_spun && x_.random() % kSpinsToo == 0;
  return choose_from(first, spinning_too);
}

ClusterRunner::Choice ClusterRunner::choose_from(std::size_t first, bool spinning_too,
                                                 bool lagging) {
  const std::size_t count = x_.warps.size();
  for (std::size_t i = 0; i < count; ++i) {
    Warp& warp = x_.warps[(first % count + i) % count];
    if (lags(x_, warp) != lagging) {
      continue;
    }
    resume_pollers(x_, warp);
    merge_groups(warp);
    const std::size_t group = choose_group(warp, spinning_too);
    if (group < warp.groups.size()) {
      return {&warp, group};
    }
  }
  return {};
}

void ClusterRunner::run_group(Warp& warp, std::size_t index) {
  int budget = longest_turn(x_, warp, warp.groups[index]);
  x_.turn_ends = false;
  warp.groups[index].spins = false;
  while (budget-- > 0 && execute(warp, index)) {
    if (warp.groups.size() > 1 && instruction_at(x_, warp.groups[index]).leader) {
      return;
    }
  }
  if (x_.turn_ends && !x_.trapped) {
    warp.groups[index].spins = x_.has_spun = true;
    warp.groups[index].spins_at = warp.polls.last_address();
  }
}

bool ClusterRunner::execute(Warp& warp, std::size_t index) {
  Group& group = warp.groups[index];
  const Step step = step_of(x_, warp, group);
  const Instruction& instruction = step.instruction;
  ++executed_;
  if (step.mask == 0 && instruction.flow != Flow::branch) {
    ++group.pc;
    return true;
  }
  switch (instruction.flow) {
    case Flow::branch:
      return branch(step, index);
    case Flow::exit:
      return end_lanes(step, index);
    case Flow::gather:
      if (!gathered(step, index)) {
        return false;
      }
      break;
    case Flow::poll:
      if (instruction.all_members && !gathered(step, index)) {
        return false;
      }
      split_inactive(step, index);
      if (!polled(step, warp.groups[index])) {
        return false;
      }
      break;
    case Flow::barrier:
      return gathered(step, index) && arrive_at_barrier(step, index);
    case Flow::next:
      break;
  }
  count_execution(step);
  if (instruction.watched >= 0) {
    check_watched(step);
  }
  instruction.handler(step);
  ++warp.groups[index].pc;
  return !x_.turn_ends;
}

void ClusterRunner::collect_waiting(std::vector<WaitingGroup>& waiting) const {
  for (Warp& warp : x_.warps) {
    for (const Group& group : warp.groups) {
      waiting.push_back({&x_, &warp, &group});
    }
  }
}

}  // namespace fatune::emulate
