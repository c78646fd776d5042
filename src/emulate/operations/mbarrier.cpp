#include <cstdint>
#include <string_view>

#include "emulate/async/mbarrier_access.hpp"
#include "emulate/operations/operations.hpp"

// mbarrier: PTX ISA 9.0, section 9.7.13.15.
namespace fatune::emulate {
namespace {

using enum ScalarType;

/// The meaning of `Instruction::variant` for an mbarrier instruction.
constexpr std::uint32_t kCluster = 1U << 0U;  ///< the address is in shared::cluster, or generic
constexpr std::uint32_t kRelaxedArrival = 1U << 1U;  ///< the arrival orders no memory accesses
constexpr std::uint32_t kExpects = 1U << 2U;   ///< arrive: the last operand is bytes, not arrivals
constexpr std::uint32_t kDrops = 1U << 3U;     ///< arrive_drop
constexpr std::uint32_t kByParity = 1U << 4U;  ///< waits take a parity, not a state

bool is(const Instruction& instruction, std::uint32_t flag) {
  return (instruction.variant & flag) != 0;
}

Space space_of(const Instruction& instruction) {
  return is(instruction, kCluster) ? Space::shared_cluster : Space::shared;
}

/// The mbarrier of a lane. The operand at `index` is its address.
MbarrierPlace mbarrier_of(const Actor& by, std::size_t index) {
  const std::uint64_t address = by.address(index);
  return find_mbarrier(by, shared_part(address), space_of(by.instruction));
}

void init(Execution& x, Warp& warp, const Instruction& instruction, Mask mask) {
  for_each_actor(x, warp, instruction, mask, [&](const Actor& by) {
    const std::uint64_t address = shared_part(by.address(0));
    const SharedPlace place =
        check_shared(by, {Space::shared, address, Mbarrier::kBytes, Mbarrier::kBytes});
    const std::uint32_t count = by.word(2);
    if (!place) {
      return;
    }
    if (count < 1 || count > Mbarrier::kMostCount) {
      report_misuse(by, "an mbarrier must expect 1 to 2^20 - 1 arrivals");
      return;
    }
    const Accessor who = by.accessor();
    if (x.setup.checks.race) {
      report_shared(by, place.block->shared.note_write(who, place.offset, Mbarrier::kBytes),
                    kInitialisesShared);
    }
    x.agents += place.block->mbarriers.init(place.offset, count, who.epoch(), x.agents) ? 1U : 0U;
  });
}

void invalidate(Execution& x, Warp& warp, const Instruction& instruction, Mask mask) {
  for_each_actor(x, warp, instruction, mask, [&](const Actor& by) {
    if (const MbarrierPlace at = mbarrier_of(by, 0)) {
      at.place.block->mbarriers.invalidate(at.place.offset);
    }
  });
}

/// Operands: state, address (2), arrivals or bytes.
void arrive(Execution& x, Warp& warp, const Instruction& instruction, Mask mask) {
  for_each_actor(x, warp, instruction, mask, [&](const Actor& by) {
    const MbarrierPlace at = mbarrier_of(by, 1);
    if (!at) {
      return;
    }
    Mbarrier& mbarrier = *at.mbarrier;
    x.lanes<std::uint64_t>(warp, instruction.operands[0])[by.lane] = mbarrier.state();
    const std::uint32_t given = by.word(3);
    MbarrierFault fault;
    if (is(instruction, kExpects)) {
      fault = mbarrier.expect(given);
    }
    const std::int64_t count = is(instruction, kExpects) ? 1 : given;
    const Knowledge* const known = is(instruction, kRelaxedArrival) ? nullptr : &warp.clock;
    if (fault.empty()) {
      fault = is(instruction, kDrops) ? mbarrier.arrive_drop(count, known)
                                      : mbarrier.arrive(count, known);
    }
    report_misuse(by, fault);
  });
  x.note_progress();
  warp.advance();
}

void expect(Execution& x, Warp& warp, const Instruction& instruction, Mask mask) {
  for_each_actor(x, warp, instruction, mask, [&](const Actor& by) {
    if (const MbarrierPlace at = mbarrier_of(by, 0)) {
      report_misuse(by, at.mbarrier->expect(by.word(2)));
    }
  });
}

void complete(Execution& x, Warp& warp, const Instruction& instruction, Mask mask) {
  for_each_actor(x, warp, instruction, mask, [&](const Actor& by) {
    if (const MbarrierPlace at = mbarrier_of(by, 0)) {
      report_misuse(by, at.mbarrier->complete(by.word(2)));
    }
  });
  x.note_progress();
}

/// Operands of waits: predicate, address (2), state or parity.
bool has_completed(const Actor& by, const Mbarrier& mbarrier) {
  return is(by.instruction, kByParity)
             ? mbarrier.has_completed_parity(by.word(3))
             : mbarrier.has_completed(Mbarrier::phase_of(by.wide_word(3)));
}

/// True if the phases of all these lanes have completed, or if an mbarrier is missing.
bool all_complete(Execution& x, Warp& warp, const Instruction& instruction, Mask mask) {
  bool all = true;
  for_each_actor(x, warp, instruction, mask, [&](const Actor& by) {
    const MbarrierPlace at = mbarrier_of(by, 1);
    all = all && (!at || has_completed(by, *at.mbarrier));
  });
  return all;
}

void wait(Execution& x, Warp& warp, const Instruction& instruction, Mask mask) {
  Mask complete = 0;
  for_each_actor(x, warp, instruction, mask, [&](const Actor& by) {
    const MbarrierPlace at = mbarrier_of(by, 1);
    if (!at || !has_completed(by, *at.mbarrier)) {
      return;
    }
    complete |= lane_bit(by.lane);
    if (!is(instruction, kRelaxedArrival)) {
      warp.clock.join(at.mbarrier->completed());
    }
  });
  set_mask(warp, instruction.operands[0], complete, mask);
}

void pending_count(Execution& x, Warp& warp, const Instruction& instruction, Mask mask) {
  const auto* states = x.lanes<std::uint64_t>(warp, instruction.operands[1]);
  auto* to = x.lanes<std::uint32_t>(warp, instruction.operands[0]);
  for_each_lane(mask, [&](int lane) {
    to[lane] = static_cast<std::uint32_t>(Mbarrier::pending_of(states[lane]));
  });
}

void add_flag(Decoder& d, bool set, std::uint32_t flag) { d.result.variant |= set ? flag : 0U; }

/// True for arrivals and transactions: only they may use another block's mbarrier.
bool may_be_remote(std::string_view verb) {
  return verb == "arrive" || verb == "arrive_drop" || verb == "expect_tx" || verb == "complete_tx";
}

/// Decodes the space of the address: shared::cta, shared::cluster, or generic.
void decode_space(Decoder& d) {
  d.unsupported_if(d.type() != b64, "only .b64");
  d.malformed_if(d.has("shared::cluster") && !may_be_remote(d.part(1)),
                 "only for the block's own mbarriers");
  add_flag(d, may_be_remote(d.part(1)) && (d.has("shared::cluster") || !d.has("shared")), kCluster);
  add_flag(d, d.has("relaxed"), kRelaxedArrival);
}

void decode_arrive(Decoder& d) {
  // A remote arrival has no state, and need not name a sink for it.
  const bool has_state = !d.operand(0).starts_with('[');
  const std::size_t at = has_state ? 1 : 0;
  add_flag(d, d.has("expect_tx"), kExpects);
  add_flag(d, d.part(1) == "arrive_drop", kDrops);
  d.add(has_state ? d.destination(0, b64) : d.destination_named("_", b64));
  d.add_address(d.address(at));
  if (d.operand_count() > at + 1) {
    d.add(d.value(at + 1, u32));
  } else if (d.has("expect_tx")) {
    d.malformed("the number of bytes is missing");
  } else {
    d.add(d.constant(1, false));
  }
  d.result.handler = &arrive;
}

void decode_wait(Decoder& d) {
  const bool by_parity = d.has("parity");
  add_flag(d, by_parity, kByParity);
  d.add(d.predicate(0));
  d.add_address(d.address(1));
  d.add(d.value(2, by_parity ? u32 : b64));
  d.result.handler = &wait;
  d.result.condition = &all_complete;
  d.result.flow = Flow::poll;
}

void decode_count(Decoder& d, Handler handler) {
  d.add_address(d.address(0));
  d.add(d.value(1, u32));
  d.result.handler = handler;
}

}  // namespace

void decode_mbarrier(Decoder& d) {
  d.unsupported_if(d.part_count() < 2);
  const std::string_view verb = d.part(1);
  if (verb == "pending_count") {
    d.add(d.destination(0, b32));
    d.add(d.value(1, b64));
    d.result.handler = &pending_count;
    return;
  }
  decode_space(d);
  if (verb == "init") {
    decode_count(d, &init);
  } else if (verb == "inval") {
    d.add_address(d.address(0));
    d.result.handler = &invalidate;
  } else if (verb == "arrive" || verb == "arrive_drop") {
    decode_arrive(d);
  } else if (verb == "expect_tx") {
    decode_count(d, &expect);
  } else if (verb == "complete_tx") {
    decode_count(d, &complete);
  } else if (verb == "test_wait" || verb == "try_wait") {
    decode_wait(d);
  } else {
    d.unsupported();
  }
}

}  // namespace fatune::emulate
