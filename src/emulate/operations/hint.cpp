#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "emulate/execution.hpp"
#include "emulate/operations/operations.hpp"

// Instructions that do not affect results, and clocks: PTX ISA 9.0, sections 9.7.9, 9.7.19 and 10.
namespace fatune::emulate {
namespace {

using enum ScalarType;

/// Returns a cache policy, which has no effect.
void make_policy(Execution& x, Warp& warp, const Instruction& instruction, Mask mask) {
  constexpr std::uint64_t kPolicy = std::uint64_t{1} << 60U;
  auto* const to = x.lanes<std::uint64_t>(warp, instruction.operands[0]);
  for_each_lane(mask, [&](int lane) { to[lane] = kPolicy; });
}

/// Reads a clock. The time advances at every read, and has no meaning.
template <typename Lane>
void read_clock(Execution& x, Warp& warp, const Instruction& instruction, Mask mask) {
  constexpr std::uint64_t kBetweenReads = 64;
  const std::uint64_t now = ++x.clock_reads * kBetweenReads;
  auto* const to = x.lanes<Lane>(warp, instruction.operands[0]);
  for_each_lane(mask, [&](int lane) { to[lane] = static_cast<Lane>(now >> instruction.variant); });
}

struct Clock {
  std::string_view name;
  bool wide = false;
  bool upper = false;
};
constexpr std::array kClocks{Clock{"%clock"},          Clock{"%clock_hi", false, true},
                             Clock{"%clock64", true},  Clock{"%globaltimer", true},
                             Clock{"%globaltimer_lo"}, Clock{"%globaltimer_hi", false, true}};

void decode_hint(Decoder& d) { d.result.handler = &do_nothing; }

void decode_createpolicy(Decoder& d) {
  d.add(d.destination(0, b64));
  d.result.handler = &make_policy;
}

}  // namespace

bool decode_clock(Decoder& d) {
  const auto* const found = std::ranges::find(kClocks, d.operand(1), &Clock::name);
  if (found == kClocks.end()) {
    return false;
  }
  d.malformed_if(found->wide != (size_of(d.type()) == 8), "the clock has a different width");
  d.result.handler = found->wide ? &read_clock<std::uint64_t> : &read_clock<std::uint32_t>;
  d.result.variant = found->upper ? 32 : 0;
  d.add(d.destination(0, d.type()));
  return true;
}

void do_nothing(Execution&, Warp&, const Instruction&, Mask) {}

std::span<const NamedOperation> hint_operations() {
  static constexpr NamedOperation kOperations[] = {
      {"applypriority", decode_hint}, {"createpolicy", decode_createpolicy},
      {"discard", decode_hint},       {"griddepcontrol", decode_hint},
      {"nanosleep", decode_hint},     {"pmevent", decode_hint},
      {"prefetch", decode_hint},      {"prefetchu", decode_hint}};
  return kOperations;
}

}  // namespace fatune::emulate
