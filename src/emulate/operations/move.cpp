#include <algorithm>
#include <cstdint>
#include <functional>

#include "emulate/memory/memory_access.hpp"
#include "emulate/operations/map_lanes.hpp"
#include "emulate/operations/operations.hpp"

// Moves, and conversions of addresses between spaces: PTX ISA 9.0, section 9.7.9.
namespace fatune::emulate {
namespace {

using enum ScalarType;

struct Same {
  template <typename T>
  T operator()(T a) const {
    return a;
  }
};

// --- mov of vectors: packs {a, b} into one register, or unpacks it ---

void pack(Execution& x, Warp& warp, const Instruction& instruction, Mask mask) {
  const auto bits = static_cast<std::uint32_t>(instruction.variant & 0xffU);  // a part's size
  const std::uint32_t count = instruction.variant >> 8U;
  for_each_lane(mask, [&](int lane) {
    std::uint64_t value = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
      // The bits above a narrow part may be copies of its sign.
      const std::uint64_t part = x.lanes<std::uint32_t>(warp, instruction.operands[1 + i])[lane];
      value |= (part & ((std::uint64_t{1} << bits) - 1)) << (bits * i);
    }
    if (bits * count == 64) {
      x.lanes<std::uint64_t>(warp, instruction.operands[0])[lane] = value;
    } else {
      x.lanes<std::uint32_t>(warp, instruction.operands[0])[lane] =
          static_cast<std::uint32_t>(value);
    }
  });
}

void unpack(Execution& x, Warp& warp, const Instruction& instruction, Mask mask) {
  const std::uint32_t bits = instruction.variant & 0xffU;
  const std::uint32_t count = instruction.variant >> 8U;
  const Operand& whole = instruction.operands[count];
  for_each_lane(mask, [&](int lane) {
    const std::uint64_t value = bits * count == 64 ? x.lanes<std::uint64_t>(warp, whole)[lane]
                                                   : x.lanes<std::uint32_t>(warp, whole)[lane];
    for (std::uint32_t i = 0; i < count; ++i) {
      x.lanes<std::uint32_t>(warp, instruction.operands[i])[lane] =
          static_cast<std::uint32_t>(value >> (bits * i) & ((std::uint64_t{1} << bits) - 1));
    }
  });
}

void decode_mov_vector(Decoder& d, bool packs) {
  const int bytes = size_of(d.type());
  const std::size_t vector = packs ? 1 : 0;
  const std::size_t count =
      1 + static_cast<std::size_t>(std::ranges::count(d.operand(vector), ','));
  const ScalarType part = bytes / static_cast<int>(count) == 4 ? b32 : b16;
  d.unsupported_if((bytes != 4 && bytes != 8) || static_cast<int>(count) * size_of(part) != bytes,
                   "this vector");
  if (packs) {
    d.add(d.destination(0, d.type()));
    d.add(d.values(1, part));
  } else {
    d.add(d.destinations(0, part));
    d.add(d.value(1, d.type()));
  }
  d.malformed_if(d.result_operands.size() != count + 1, "wrong number of registers");
  d.result.handler = packs ? &pack : &unpack;
  d.result.variant =
      static_cast<std::uint32_t>(count) << 8U | static_cast<std::uint32_t>(8 * size_of(part));
}

void move_predicate(Execution&, Warp& warp, const Instruction& instruction, Mask mask) {
  set_mask(warp, instruction.operands[0], condition_of(warp, instruction.operands[1]), mask);
}

/// Sets predicates that tell whether generic addresses are in the space of `variant`.
void test_space(Execution& x, Warp& warp, const Instruction& instruction, Mask mask) {
  const auto* from = x.lanes<std::uint64_t>(warp, instruction.operands[1]);
  Mask result = 0;
  for_each_lane(mask, [&](int lane) {
    const auto space = static_cast<std::uint32_t>(space_of_generic(from[lane]));
    result |= space == instruction.variant ? lane_bit(lane) : 0U;
  });
  Mask& to = warp.predicates[instruction.operands[0].offset];
  to = (to & ~mask) | result;
}

void decode_mov(Decoder& d) {
  if (d.type() == pred) {
    d.result.handler = &move_predicate;
    d.add(d.predicate(0));
    d.add(d.condition(1));
    return;
  }
  if (decode_clock(d)) {
    return;
  }
  const bool packs = d.operand(1).starts_with('{');
  if (packs || d.operand(0).starts_with('{')) {
    return decode_mov_vector(d, packs);
  }
  const bool wide = size_of(d.type()) == 8;
  use(d,
      wide ? &lane_wise<Same, std::uint64_t, std::uint64_t>
           : &lane_wise<Same, std::uint32_t, std::uint32_t>,
      d.type(), {d.type()});
}

/// Decodes conversions between generic addresses and those of a space. Operands are (to, from).
void decode_cvta(Decoder& d) {
  const bool to_space = d.has("to");
  const std::uint64_t window = d.has("shared")  ? kSharedWindow
                               : d.has("local") ? kLocalWindow
                               : d.has("param") ? kParameterWindow
                                                : 0;
  d.unsupported_if(d.type() != u64, "only .u64");
  use(d, &lane_wise<std::plus<>, std::uint64_t, std::uint64_t, std::uint64_t>, u64, {u64});
  d.add(d.constant(to_space ? 0 - window : window, true));
}

void decode_isspacep(Decoder& d) {
  d.unsupported_if(d.one_of({"const", "shared::cluster"}).has_value(), "this space");
  d.result.handler = &test_space;
  d.result.variant = static_cast<std::uint32_t>(d.has("shared")  ? Space::shared
                                                : d.has("local") ? Space::local
                                                : d.has("param") ? Space::parameter
                                                                 : Space::global);
  d.add(d.predicate(0));
  d.add(d.value(1, u64));
}

}  // namespace

std::span<const NamedOperation> move_operations() {
  static constexpr NamedOperation kOperations[] = {
      {"cvta", decode_cvta}, {"isspacep", decode_isspacep}, {"mov", decode_mov}};
  return kOperations;
}

}  // namespace fatune::emulate
