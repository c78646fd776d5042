#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#include "emulate/execution.hpp"
#include "emulate/operations/operations.hpp"
#include "emulate/values/transpose.hpp"

// match, redux and movmatrix: PTX ISA 9.0, sections 9.7.13 and 9.7.14.5.
namespace fatune::emulate {
namespace {

using enum ScalarType;

/// Calls `work` for each group. The lanes of `mask` may act in several groups. The members of a
/// group are the lanes of `mask` that its first lane names.
template <typename Work>
void for_each_member_group(Execution& x, const Warp& warp, const Operand& members, Mask mask,
                           Work work) {
  const auto* masks = x.lanes<Mask>(warp, members);
  while (mask != 0) {
    const int first = std::countr_zero(mask);
    const Mask group = (masks[first] & mask) | lane_bit(first);
    work(group);
    mask &= ~group;
  }
}

template <typename Lane>
void match_any(Execution& x, Warp& warp, const Instruction& instruction, Mask mask) {
  std::array<Lane, kLanes> values{};
  std::copy_n(x.lanes<Lane>(warp, instruction.operands[1]), kLanes, values.begin());
  auto* const to = x.lanes<Mask>(warp, instruction.operands[0]);
  for_each_member_group(x, warp, instruction.operands[2], mask, [&](Mask group) {
    for_each_lane(group, [&](int lane) {
      Mask same = 0;
      for_each_lane(group, [&](int other) {
        const bool equal =
            values[static_cast<std::size_t>(other)] == values[static_cast<std::size_t>(lane)];
        same |= equal ? lane_bit(other) : 0U;
      });
      to[lane] = same;
    });
  });
}

/// Operands: to, value, members, whether all values are the same.
template <typename Lane>
void match_all(Execution& x, Warp& warp, const Instruction& instruction, Mask mask) {
  const auto* const from = x.lanes<Lane>(warp, instruction.operands[1]);
  std::array<Lane, kLanes> values{};
  std::copy_n(from, kLanes, values.begin());
  auto* const to = x.lanes<Mask>(warp, instruction.operands[0]);
  for_each_member_group(x, warp, instruction.operands[2], mask, [&](Mask group) {
    const Lane first = values[static_cast<std::size_t>(std::countr_zero(group))];
    bool all = true;
    for_each_lane(group,
                  [&](int lane) { all = all && values[static_cast<std::size_t>(lane)] == first; });
    for_each_lane(group, [&](int lane) { to[lane] = all ? group : 0U; });
    if (instruction.operands[3].offset != kNowhere) {
      Mask& bits = warp.predicates[instruction.operands[3].offset];
      bits = all ? bits | group : bits & ~group;
    }
  });
}

enum class Reduction : std::uint32_t { add, min, max, conjunction, disjunction, exclusive };

template <typename T>
T reduced(Reduction operation, T a, T b) {
  switch (operation) {
    case Reduction::add:
      return static_cast<T>(static_cast<std::uint32_t>(a) + static_cast<std::uint32_t>(b));
    case Reduction::min:
      return std::min(a, b);
    case Reduction::max:
      return std::max(a, b);
    case Reduction::conjunction:
      return static_cast<T>(a & b);
    case Reduction::disjunction:
      return static_cast<T>(a | b);
    case Reduction::exclusive:
      break;
  }
  return static_cast<T>(a ^ b);
}

template <typename T>
void reduce(Execution& x, Warp& warp, const Instruction& instruction, Mask mask) {
  std::array<std::uint32_t, kLanes> values{};
  std::copy_n(x.lanes<std::uint32_t>(warp, instruction.operands[1]), kLanes, values.begin());
  auto* const to = x.lanes<std::uint32_t>(warp, instruction.operands[0]);
  const auto operation = static_cast<Reduction>(instruction.variant);
  for_each_member_group(x, warp, instruction.operands[2], mask, [&](Mask group) {
    const int first = std::countr_zero(group);
    auto result = static_cast<T>(values[static_cast<std::size_t>(first)]);
    for_each_lane(group & ~lane_bit(first), [&](int lane) {
      result = reduced(operation, result, static_cast<T>(values[static_cast<std::size_t>(lane)]));
    });
    for_each_lane(group, [&](int lane) { to[lane] = static_cast<std::uint32_t>(result); });
  });
}

/// Lane 4 r + i has columns 2 i and 2 i + 1 of row r, both before and after.
void transpose_matrix(Execution& x, Warp& warp, const Instruction& instruction, Mask) {
  std::array<std::uint16_t, 64> elements;
  std::memcpy(elements.data(), x.lanes<std::uint32_t>(warp, instruction.operands[1]),
              sizeof(elements));
  transpose_8x8(elements.data());
  std::memcpy(x.lanes<std::uint32_t>(warp, instruction.operands[0]), elements.data(),
              sizeof(elements));
}

/// Makes the lanes of operand 2 execute the instruction together.
void gather_members(Decoder& d) { d.gather(2); }

void decode_match(Decoder& d) {
  const auto kind = d.one_of({"any", "all"});
  d.unsupported_if(!d.has("sync") || !kind || (d.type() != b32 && d.type() != b64), "this form");
  const auto [to, all] = d.pair(0);
  const bool wide = d.type() == b64;
  d.add(d.destination_named(to, b32));
  d.add(d.value(1, d.type()));
  d.add(d.value(2, b32));
  d.add(d.predicate_or_nowhere(all));
  d.result.handler = *kind == 0 ? (wide ? &match_any<std::uint64_t> : &match_any<std::uint32_t>)
                                : (wide ? &match_all<std::uint64_t> : &match_all<std::uint32_t>);
  gather_members(d);
}

void decode_redux(Decoder& d) {
  const auto operation = d.one_of({"add", "min", "max", "and", "or", "xor"});
  d.unsupported_if(!d.has("sync") || !operation || size_of(d.type()) != 4 || is_float(d.type()),
                   "this form");
  use(d, d.type() == s32 ? &reduce<std::int32_t> : &reduce<std::uint32_t>, b32, {b32, b32});
  d.result.variant = static_cast<std::uint32_t>(*operation);
  gather_members(d);
}

void decode_movmatrix(Decoder& d) {
  d.unsupported_if(!d.has("m8n8") || !d.has("trans") || d.type() != b16, "this form");
  use(d, &transpose_matrix, b32, {b32});
  d.gather_all();
}

}  // namespace

std::span<const NamedOperation> collective_operations() {
  static constexpr NamedOperation kOperations[] = {
      {"match", decode_match}, {"movmatrix", decode_movmatrix}, {"redux", decode_redux}};
  return kOperations;
}

}  // namespace fatune::emulate
