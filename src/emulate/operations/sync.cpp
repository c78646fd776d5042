#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <string>

#include <fmt/format.h>

#include "emulate/execution.hpp"
#include "emulate/operations/operations.hpp"
#include "emulate/schedule/barrier_votes.hpp"

// shfl, vote, barriers and control: PTX ISA 9.0, sections 9.7.9.6, 9.7.12 and 9.7.13.
namespace fatune::emulate {
namespace {

using enum ScalarType;

enum class Shuffle : std::uint32_t { up, down, bfly, idx };

/// The source lane of a shuffle, and whether it is in range.
struct Source {
  int lane = 0;
  bool in_range = false;
};

Source shuffle_source(Shuffle mode, int lane, std::uint32_t b, std::uint32_t c) {
  const auto clamp = static_cast<int>(c & 0x1fU);
  const auto segment = static_cast<int>(c >> 8U & 0x1fU);
  const auto by = static_cast<int>(b & 0x1fU);
  const int most = (lane & segment) | (clamp & ~segment);
  const int least = lane & segment;
  int from = lane;
  bool in_range = false;
  switch (mode) {
    case Shuffle::up:
      from = lane - by;
      in_range = from >= most;
      break;
    case Shuffle::down:
      from = lane + by;
      in_range = from <= most;
      break;
    case Shuffle::bfly:
      from = lane ^ by;
      in_range = from <= most;
      break;
    case Shuffle::idx:
      from = least | (by & ~segment);
      in_range = from <= most;
      break;
  }
  return {in_range ? from : lane, in_range};
}

void shuffle(Execution& x, Warp& warp, const Instruction& instruction, Mask mask) {
  const Operand* const o = instruction.operands;  // operands: to, in range, value, b, c, members
  std::array<std::uint32_t, kLanes> values{};
  const auto* from = x.lanes<std::uint32_t>(warp, o[2]);
  std::copy_n(from, kLanes, values.begin());
  const auto* b = x.lanes<std::uint32_t>(warp, o[3]);
  const auto* c = x.lanes<std::uint32_t>(warp, o[4]);
  const auto* members = x.lanes<Mask>(warp, o[5]);
  auto* to = x.lanes<std::uint32_t>(warp, o[0]);
  Mask in_range = 0;
  for_each_lane(mask, [&](int lane) {
    const Source source =
        shuffle_source(static_cast<Shuffle>(instruction.variant), lane, b[lane], c[lane]);
    to[lane] = values[static_cast<std::size_t>(source.lane)];
    if (!has_lane(mask & members[lane], source.lane)) {
      x.report(FindingKind::inactive_lane, warp, instruction, lane, [&] {
        return fmt::format("takes the value of lane {}, which does not take part: undefined",
                           source.lane);
      });
    }
    in_range |= source.in_range ? lane_bit(lane) : 0U;
  });
  if (o[1].offset != kNowhere) {
    set_mask(warp, o[1], in_range, mask);
  }
}

enum class Vote : std::uint32_t { any, all, uni, ballot };

bool is_carried(Vote kind, Mask yes, Mask members) {
  switch (kind) {
    case Vote::any:
      return yes != 0;
    case Vote::all:
      return yes == members;
    default:
      return yes == members || yes == 0;
  }
}

void vote(Execution& x, Warp& warp, const Instruction& instruction, Mask mask) {
  const Operand* const o = instruction.operands;  // operands: to, predicate, members
  const Mask asked = condition_of(warp, o[1]);
  const auto kind = static_cast<Vote>(instruction.variant);
  const auto* members = x.lanes<Mask>(warp, o[2]);
  // The lanes of the mask may vote in several groups, each with its own members.
  for_each_lane(mask, [&](int lane) {
    const Mask here = members[lane] & mask;
    const Mask yes = asked & here;
    if (kind == Vote::ballot) {
      x.lanes<std::uint32_t>(warp, o[0])[lane] = yes;
    } else {
      set_mask(warp, o[0], is_carried(kind, yes, here) ? kAllLanes : 0U, lane_bit(lane));
    }
  });
}

void active_mask(Execution& x, Warp& warp, const Instruction& instruction, Mask mask) {
  auto* to = x.lanes<std::uint32_t>(warp, instruction.operands[0]);
  for_each_lane(mask, [&](int lane) { to[lane] = mask; });
}

void warp_sync(Execution&, Warp& warp, const Instruction&, Mask) { warp.advance(); }

/// fence.proxy.async: from now on, the async proxy sees everything that these lanes know. They do
/// not know what other lanes of the warp did since its last synchronisation.
void fence_proxy(Execution&, Warp& warp, const Instruction&, Mask mask) {
  const std::uint32_t now = warp.clock.seen.of(warp.agent);
  const std::uint32_t before = warp.clock.fenced.of(warp.agent);
  warp.clock.fenced.join(warp.clock.seen);
  if (mask == warp.alive) {
    warp.advance();
  } else {
    warp.clock.fenced.set(warp.agent, std::max(before, now - 1));
  }
}

void order(Execution&, Warp& warp, const Instruction&, Mask) { order_by_fence(warp); }

void trap(Execution& x, Warp& warp, const Instruction& instruction, Mask mask) {
  x.end_by_trap();
  x.report(FindingKind::trap, warp, instruction, std::countr_zero(mask),
           [] { return std::string("the kernel executes trap"); });
}

/// Reads the vote of "bar.red.popc.u32 d, a, b, !c", and sets `first` to the barrier's operand.
BarrierShape vote_of(const Decoder& d, std::size_t verb, std::size_t& first) {
  BarrierShape shape;
  if (d.part(verb) == "red") {
    const auto vote = d.one_of({"popc", "and", "or"});
    d.unsupported_if(!vote, "this form");
    shape.vote = static_cast<BarrierVote>(*vote + 1);
    first = 1;
  }
  shape.counted = d.operand_count() > (first == 0 ? 1U : 3U);
  return shape;
}

void add_vote(Decoder& d, const BarrierShape& shape) {
  d.add(d.condition(shape.counted ? 3 : 2));
  d.add(shape.vote == BarrierVote::count ? d.destination(0, u32) : d.predicate(0));
}

void decode_cta_barrier(Decoder& d, std::size_t verb) {
  const std::string_view action = verb < d.part_count() ? d.part(verb) : std::string_view();
  d.unsupported_if(action != "sync" && action != "arrive" && action != "red",
                   "only sync, arrive and red");
  std::size_t first = 0;
  const BarrierShape shape = vote_of(d, verb, first);
  d.result.handler = &do_nothing;
  d.result.flow = Flow::barrier;
  d.result.waits = action != "arrive";
  d.result.all_members = d.name() == "bar" || d.has("aligned");
  d.add(d.value(first, u32));
  if (shape.counted) {
    d.add(d.value(first + 1, u32));
  }
  if (shape.vote != BarrierVote::none) {
    add_vote(d, shape);
  }
  d.result.set_details(shape);
}

void decode_shfl(Decoder& d) {
  const auto mode = d.one_of({"up", "down", "bfly", "idx"});
  d.unsupported_if(!d.has("sync") || !mode || d.operand_count() != 5, "only shfl.sync");
  const auto [to, in_range] = d.pair(0);
  d.add(d.destination_named(to, b32));
  d.add(d.predicate_or_nowhere(in_range));
  for (std::size_t i = 1; i < 5; ++i) {
    d.add(d.value(i, b32));
  }
  d.result.handler = &shuffle;
  d.result.variant = static_cast<std::uint32_t>(*mode);
  d.gather(5);
}

void decode_vote(Decoder& d) {
  const auto mode = d.one_of({"any", "all", "uni", "ballot"});
  d.unsupported_if(!d.has("sync") || !mode, "only vote.sync");
  const bool ballot = static_cast<Vote>(*mode) == Vote::ballot;
  d.add(ballot ? d.destination(0, b32) : d.predicate(0));
  d.add(d.condition(1));
  d.add(d.value(2, b32));
  d.result.handler = &vote;
  d.result.variant = static_cast<std::uint32_t>(*mode);
  d.gather(2);
}

void decode_activemask(Decoder& d) {
  d.add(d.destination(0, b32));
  d.result.handler = &active_mask;
}

void decode_bar(Decoder& d) {
  if (d.has("cluster")) {
    decode_cluster_barrier(d);
    return;
  }
  if (d.part_count() > 1 && d.part(1) == "warp") {
    d.add(d.value(0, b32));
    d.result.handler = &warp_sync;
    d.gather(0);
    return;
  }
  decode_cta_barrier(d, d.has("cta") ? 2 : 1);
}

/// The emulator's threads of a block see each other's accesses in order regardless of fences. A
/// fence's order only counts for races that strong accesses exclude. Between the proxies, a fence
/// makes the difference.
void decode_fence(Decoder& d) {
  if (d.has("proxy")) {
    d.result.handler = d.has("async") && !d.has("global") ? &fence_proxy : &do_nothing;
  } else {
    d.result.handler = d.has("mbarrier_init") ? &do_nothing : &order;
  }
}

void decode_branch(Decoder& d) {
  d.result.flow = Flow::branch;
  d.result.handler = &do_nothing;
  d.branch_target(0);
}

void decode_exit(Decoder& d) {
  d.result.flow = Flow::exit;
  d.result.handler = &do_nothing;
}

void decode_trap(Decoder& d) { d.result.handler = &trap; }

}  // namespace

std::span<const NamedOperation> sync_operations() {
  static constexpr NamedOperation kOperations[] = {{"activemask", decode_activemask},
                                                   {"bar", decode_bar},
                                                   {"barrier", decode_bar},
                                                   {"bra", decode_branch},
                                                   {"brkpt", decode_trap},
                                                   {"exit", decode_exit},
                                                   {"fence", decode_fence},
                                                   {"membar", decode_fence},
                                                   {"ret", decode_exit},
                                                   {"shfl", decode_shfl},
                                                   {"trap", decode_trap},
                                                   {"vote", decode_vote}};
  return kOperations;
}

}  // namespace fatune::emulate
