#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>

#include <fmt/format.h>

#include "emulator/memory/memory_access.hpp"
#include "emulator/operations/operations.hpp"

// Barriers, fences, clusters and control: PTX ISA 9.0, sections 9.7.9.23 (mapa), 9.7.9.24
// (getctarank), 9.7.12, 9.7.13 and 9.7.19.5 (setmaxnreg).
namespace fatune::emulate {
namespace {

using enum ScalarType;

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

void decode_cta_barrier(Decoder& d, std::size_t verb) {
  const std::string_view action = verb < d.part_count() ? d.part(verb) : std::string_view();
  d.unsupported_if(action != "sync" && action != "arrive" && action != "red",
                   "only sync, arrive and red");
  std::size_t first = 0;
  const BarrierShape shape = vote_of(d, verb, first);
  d.result.flow = Flow::barrier;
  d.result.waits = action != "arrive";
  d.result.all_members = d.name() == "bar" || d.has("aligned");
  d.handle(&do_nothing).from(first, u32);
  if (shape.counted) {
    d.from(first + 1, u32);
  }
  if (shape.vote != BarrierVote::none) {
    d.asks(shape.counted ? 3 : 2);
    shape.vote == BarrierVote::count ? d.to(0, u32) : d.sets(0);
  }
  d.result.set_details(shape);
}

constexpr std::uint32_t kRelaxed = 1;  ///< a value of Instruction::variant

void arrive_at_cluster(const Step& step) {
  Warp& warp = step.warp;
  const Mask again = step.mask & warp.at_cluster_barrier;
  for_each_lane(again, [&](int lane) {
    report_misuse(step.by(lane), "a thread arrives at the cluster's barrier again without waiting");
  });
  warp.at_cluster_barrier |= step.mask;
  warp.cluster_arrived |= step.mask;
  if (step.instruction.variant != kRelaxed) {
    step.x.cluster_barrier.joined.join(warp.clock);
  }
  warp.advance();
  step.x.note_progress();
  step.x.complete_cluster_barrier();
}

bool cluster_has_arrived(const Step& step) {
  return (step.mask & ~step.warp.at_cluster_barrier) != 0 ||
         (step.mask & step.warp.cluster_arrived) == 0;
}

void wait_for_cluster(const Step& step) {
  const Mask absent = step.mask & ~step.warp.at_cluster_barrier;
  if (absent != 0) {
    report_misuse(step.by(std::countr_zero(absent)),
                  "waits at the cluster's barrier without having arrived there");
    return;
  }
  step.warp.at_cluster_barrier &= ~step.mask;
  step.warp.clock.join(step.x.cluster_barrier.completed);
}

void decode_cluster_barrier(Decoder& d) {
  d.result.all_members = d.has("aligned");
  if (d.has("arrive")) {
    d.handle(&arrive_at_cluster, d.has("relaxed") ? kRelaxed : 0);
  } else if (d.has("wait")) {
    d.handle(&wait_for_cluster).await(&cluster_has_arrived, Awaited::cluster);
  } else {
    d.unsupported();
  }
}

void decode_bar(Decoder& d) {
  if (d.has("cluster")) {
    decode_cluster_barrier(d);
  } else if (d.part_count() > 1 && d.part(1) == "warp") {
    d.handle([](const Step& step) { step.warp.advance(); }).from(0, b32).gather(0);
  } else {
    decode_cta_barrier(d, d.has("cta") ? 2 : 1);
  }
}

/// The details of mapa.
struct MappedAddress {
  bool generic = false;
  bool wide = false;
};

/// Operands: result, address (2), rank.
void map_to_rank(const Actor& by) {
  const auto shape = by.instruction.details_as<MappedAddress>();
  const std::uint32_t rank = by.word(3);
  if (rank >= by.x.blocks.size()) {
    by.report(FindingKind::out_of_bounds, [&] {
      return fmt::format("block rank {} of a cluster of {}", rank, by.x.blocks.size());
    });
    return;
  }
  const std::uint64_t mapped =
      cluster_address(rank, cluster_address_of(by.warp, by.address(1)).own);
  by.set_value(0, by.lane, shape.wide, shape.generic ? kSharedWindow + mapped : mapped);
}

void rank_of_address(const Actor& by) {
  const auto address = static_cast<std::uint32_t>(shared_part(by.address(1)));
  by.words(0)[by.lane] = static_cast<std::uint32_t>(cluster_address_of(by.warp, address).rank);
}

void decode_mapa(Decoder& d) {
  const bool wide = d.type() == u64 || d.type() == b64;
  d.handle(&Step::each<&map_to_rank>).to(0, d.type()).at(1).from(2, u32);
  d.result.set_details(MappedAddress{!d.has("shared::cluster"), wide});
}

// --- setmaxnreg. The instruction's variant is the number of registers per thread ---

/// The details of setmaxnreg.
struct RegisterChange {
  bool gives_up = false;  ///< .dec
};

/// True if the block has what the warp requests.
bool registers_are_there(const Step& step) {
  return step.instruction.details_as<RegisterChange>().gives_up ||
         missing_registers(step) <= step.block().free_registers;
}

/// Sets the number of registers per thread of the warp. Additional ones come from those that other
/// warps of the block have given up.
void set_registers(const Step& step) {
  std::uint32_t& own = step.warp.registers_of_thread;
  const std::uint32_t wanted = step.instruction.variant;
  if (step.instruction.details_as<RegisterChange>().gives_up && wanted > own) {
    step.report(FindingKind::barrier_misuse, 0, [&] {
      return fmt::format("gives up registers to keep {}, but a thread has at most {}", wanted, own);
    });
    return;
  }
  step.block().free_registers += (own - wanted) * kLanes;  // fewer if it wants more than it has
  own = wanted;
  step.x.note_progress();
}

void decode_setmaxnreg(Decoder& d) {
  constexpr std::int64_t kLeast = 24;
  constexpr std::int64_t kMost = 256;
  constexpr std::int64_t kUnit = 8;
  const std::int64_t registers = d.immediate(0);
  d.malformed_if(registers < kLeast || registers > kMost || registers % kUnit != 0,
                 "registers must be a multiple of 8 from 24 to 256");
  d.handle(&set_registers, registers).await(&registers_are_there, Awaited::registers);
  d.result.set_details(RegisterChange{d.has("dec")});
}

/// fence.proxy.async: from now on, the async proxy sees everything that these lanes know. They do
/// not know what other lanes of the warp did since its last synchronisation.
void fence_proxy(const Step& step) {
  Warp& warp = step.warp;
  const std::uint32_t now = warp.clock.seen.of(warp.agent);
  const std::uint32_t before = warp.clock.fenced.of(warp.agent);
  warp.clock.fenced.join(warp.clock.seen);
  if (step.mask == warp.alive) {
    warp.advance();
  } else {
    warp.clock.fenced.set(warp.agent, std::max(before, now - 1));
  }
}

void order(const Step& step) { order_by_fence(step.warp); }

/// The emulator's threads of a block see each other's accesses in order regardless of fences. A
/// fence's order only counts for races that strong accesses exclude. Between the proxies, a fence
/// makes the difference.
void decode_fence(Decoder& d) {
  if (d.has("proxy")) {
    d.handle(d.has("async") && !d.has("global") ? &fence_proxy : &do_nothing);
  } else {
    d.handle(d.has("mbarrier_init") ? &do_nothing : &order);
  }
}

void trap(const Step& step) {
  step.x.end_by_trap();
  step.report(FindingKind::trap, step.first(),
              [] { return std::string("the kernel executes trap"); });
}

void decode_branch(Decoder& d) {
  d.result.flow = Flow::branch;
  d.handle(&do_nothing).branch_target(0);
}

void decode_exit(Decoder& d) {
  d.result.flow = Flow::exit;
  d.handle(&do_nothing);
}

void decode_trap(Decoder& d) { d.handle(&trap); }

}  // namespace

Operations sync_operations() {
  return {
      {"bar", decode_bar},
      {"barrier", decode_bar},
      {"bra", decode_branch},
      {"brkpt", decode_trap},
      {"exit", decode_exit},
      {"fence", decode_fence},
      {"getctarank", [](Decoder& d) { d.handle(&Step::each<&rank_of_address>).to(0, b32).at(1); }},
      {"mapa", decode_mapa},
      {"membar", decode_fence},
      {"ret", decode_exit},
      {"setmaxnreg", decode_setmaxnreg},
      {"trap", decode_trap}};
}

}  // namespace fatune::emulate
