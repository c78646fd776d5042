#include <cstdint>
#include <string_view>

#include "emulator/memory/memory_access.hpp"
#include "emulator/operations/lane_wise.hpp"
#include "emulator/operations/operations.hpp"

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

void init(const Actor& by) {
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
  Execution& x = by.x;
  if (x.setup.checks.race) {
    report_shared(by, place.block->shared.note_write(who, place.offset, Mbarrier::kBytes),
                  kInitialisesShared);
  }
  x.agents += place.block->mbarriers.init(place.offset, count, who.epoch(), x.agents) ? 1U : 0U;
}

void invalidate(const Actor& by) {
  if (const MbarrierPlace at = mbarrier_of(by, 0)) {
    at.place.block->mbarriers.invalidate(at.place.offset);
  }
}

/// Operands: state, address (2), arrivals or bytes.
void arrive_one(const Actor& by) {
  const MbarrierPlace at = mbarrier_of(by, 1);
  if (!at) {
    return;
  }
  by.wide_words(0)[by.lane] = at.mbarrier->state();
  const std::uint32_t given = by.word(3);
  const bool expects = is(by.instruction, kExpects);
  MbarrierFault fault = expects ? at.mbarrier->expect(given) : MbarrierFault();
  const std::int64_t count = expects ? 1 : given;
  const Knowledge* const known = is(by.instruction, kRelaxedArrival) ? nullptr : &by.warp.clock;
  if (fault.empty()) {
    fault = is(by.instruction, kDrops) ? at.mbarrier->arrive_drop(count, known)
                                       : at.mbarrier->arrive(count, known);
  }
  report_misuse(by, fault);
}

void arrive(const Step& step) {
  Step::each<&arrive_one>(step);
  step.x.note_progress();
  step.warp.advance();
}

void expect(const Actor& by) {
  if (const MbarrierPlace at = mbarrier_of(by, 0)) {
    report_misuse(by, at.mbarrier->expect(by.word(2)));
  }
}

void complete_one(const Actor& by) {
  if (const MbarrierPlace at = mbarrier_of(by, 0)) {
    report_misuse(by, at.mbarrier->complete(by.word(2)));
  }
}

void complete(const Step& step) {
  Step::each<&complete_one>(step);
  step.x.note_progress();
}

/// Operands of waits: predicate, address (2), state or parity.
bool has_completed(const Actor& by, const Mbarrier& mbarrier) {
  return is(by.instruction, kByParity)
             ? mbarrier.has_completed_parity(by.word(3))
             : mbarrier.has_completed(Mbarrier::phase_of(by.wide_word(3)));
}

/// True if the phases of all these lanes have completed, or if an mbarrier is missing.
bool all_complete(const Step& step) {
  const Mask waiting = lanes_where(step.mask, [&](int lane) {
    const MbarrierPlace at = mbarrier_of(step.by(lane), 1);
    return at && !has_completed(step.by(lane), *at.mbarrier);
  });
  return waiting == 0;
}

void wait(const Step& step) {
  const Mask complete = lanes_where(step.mask, [&](int lane) {
    const MbarrierPlace at = mbarrier_of(step.by(lane), 1);
    const bool completed = at && has_completed(step.by(lane), *at.mbarrier);
    if (completed && !is(step.instruction, kRelaxedArrival)) {
      step.warp.clock.join(at.mbarrier->completed());
    }
    return completed;
  });
  step.set_predicate(0, complete, step.mask);
}

std::uint32_t pending_count(std::uint64_t state) {
  return static_cast<std::uint32_t>(Mbarrier::pending_of(state));
}

/// True for arrivals and transactions: only they may use another block's mbarrier.
bool may_be_remote(std::string_view verb) {
  return verb == "arrive" || verb == "arrive_drop" || verb == "expect_tx" || verb == "complete_tx";
}

/// The flags of the address's space (shared::cta, shared::cluster, or generic) and of the order.
std::uint32_t space_flags(const Decoder& d) {
  const bool remote = may_be_remote(d.part(1));
  d.unsupported_if(d.type() != b64, "only .b64");
  d.malformed_if(d.has("shared::cluster") && !remote, "only for the block's own mbarriers");
  return (remote && (d.has("shared::cluster") || !d.has("shared")) ? kCluster : 0U) |
         (d.has("relaxed") ? kRelaxedArrival : 0U);
}

void decode_arrive(Decoder& d) {
  // A remote arrival has no state, and need not name a sink for it.
  const bool has_state = !d.operand(0).starts_with('[');
  const std::size_t at = has_state ? 1 : 0;
  d.handle(&arrive, space_flags(d) | (d.has("expect_tx") ? kExpects : 0U) |
                        (d.part(1) == "arrive_drop" ? kDrops : 0U));
  d.to(has_state ? std::string_view(d.operand(0)) : "_", b64).at(at);
  if (d.operand_count() > at + 1) {
    d.from(at + 1, u32);
  } else {
    d.malformed_if(d.has("expect_tx"), "the number of bytes is missing");
    d.add(d.names.constant(1, false));
  }
}

void decode_wait(Decoder& d) {
  const bool by_parity = d.has("parity");
  d.handle(&wait, space_flags(d) | (by_parity ? kByParity : 0U));
  d.sets(0).at(1).from(2, by_parity ? u32 : b64);
  d.await(&all_complete, Awaited::mbarrier);
}

void decode_mbarrier(Decoder& d) {
  d.unsupported_if(d.part_count() < 2);
  const std::string_view verb = d.part(1);
  if (verb == "pending_count") {
    use_function<&pending_count>(d);
  } else if (verb == "init") {
    d.handle(&Step::each<&init>, space_flags(d)).at(0).from(1, u32);
  } else if (verb == "inval") {
    d.handle(&Step::each<&invalidate>, space_flags(d)).at(0);
  } else if (verb == "arrive" || verb == "arrive_drop") {
    decode_arrive(d);
  } else if (verb == "expect_tx") {
    d.handle(&Step::each<&expect>, space_flags(d)).at(0).from(1, u32);
  } else if (verb == "complete_tx") {
    d.handle(&complete, space_flags(d)).at(0).from(1, u32);
  } else if (verb == "test_wait" || verb == "try_wait") {
    decode_wait(d);
  } else {
    d.unsupported();
  }
}

}  // namespace

Operations mbarrier_operations() { return {{"mbarrier", decode_mbarrier}}; }

}  // namespace fatune::emulate
