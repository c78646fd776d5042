#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "core/text_parts.hpp"
#include "emulate/memory/memory_access.hpp"
#include "emulate/operations/device_printf.hpp"
#include "emulate/operations/operations.hpp"

// brx.idx, and calls of functions that the system provides, CUDA's printf and assert: PTX ISA 9.0,
// section 9.7.12. Most operands are places: the address of a parameter in local memory, or the
// target of a branch.
namespace fatune::emulate {
namespace {

using enum ScalarType;

Operand place(std::uint64_t offset) { return {static_cast<std::uint32_t>(offset), true}; }

// --- Indexed branches ---

/// Operands: the index, and the target for each index. Lanes with another target than the one where
/// the group continues become groups of their own.
void branch_by_index(Execution& x, Warp& warp, const Instruction& instruction, Mask mask) {
  const Operand* const targets = instruction.operands + 1;
  const auto* index = x.lanes<std::uint32_t>(warp, instruction.operands[0]);
  const auto own = static_cast<std::size_t>(
      std::ranges::find_if(warp.groups,
                           [&](const Group& group) { return (group.mask & mask) != 0; }) -
      warp.groups.begin());
  while (mask != 0) {
    const std::uint32_t chosen = index[std::countr_zero(mask)];
    Mask together = 0;
    for_each_lane(mask, [&](int lane) { together |= index[lane] == chosen ? lane_bit(lane) : 0U; });
    mask &= ~together;
    if (chosen >= instruction.variant) {
      x.end_by_trap();
      x.report(FindingKind::trap, warp, instruction, std::countr_zero(together), [&] {
        return fmt::format("branches to target {} of {}", chosen, instruction.variant);
      });
      return;
    }
    const auto target = static_cast<std::int32_t>(targets[chosen].offset);
    if (together == warp.groups[own].mask) {
      warp.groups[own].pc = target - 1;  // the caller still advances the pc by one
    } else {
      warp.groups[own].mask &= ~together;
      warp.groups.push_back({target, together, Group::State::runnable, 0});
    }
  }
}

// --- Calls ---

template <typename T>
T read_local(const Actor& by, const Operand& parameter) {
  T value{};
  read_memory(by, {Space::local, parameter.offset, sizeof(T), sizeof(T)}, &value);
  return value;
}

/// Operands: the places of the result (or kNowhere), of the format and of the arguments.
void print(Execution& x, Warp& warp, const Instruction& instruction, Mask mask) {
  const Operand* const o = instruction.operands;
  for_each_actor(x, warp, instruction, mask, [&](const Actor& by) {
    if (x.trapped) {
      return;  // a limit is met
    }
    const DeviceMemory memory(by);
    const auto format = read_local<std::uint64_t>(by, o[1]);
    const auto arguments = read_local<std::uint64_t>(by, o[2]);
    const FormattedText text = format_text(memory, format, arguments);
    print_on_host(x, text.text);
    if (o[0].offset != kNowhere) {
      write_memory(by, {Space::local, o[0].offset, 4, 4}, &text.arguments);
    }
  });
}

/// Operands: message, file, line, function.
void fail_assertion(Execution& x, Warp& warp, const Instruction& instruction, Mask mask) {
  const Operand* const o = instruction.operands;
  const Actor by{x, warp, instruction, std::countr_zero(mask)};
  const DeviceMemory memory(by);
  const auto text = [&](const Operand& parameter) {
    return memory.text(read_local<std::uint64_t>(by, parameter));
  };
  std::string where = fmt::format("{}:{}: {}: assertion `{}` failed", text(o[1]),
                                  read_local<std::uint32_t>(by, o[2]), text(o[3]), text(o[0]));
  x.end_by_trap();
  by.report(FindingKind::assertion, [&] { return where; });
}

/// The places of the parameters in "(param0, param1)".
std::vector<Operand> places_of(const Decoder& d, std::string_view list) {
  std::vector<Operand> places;
  d.unsupported_if(list.size() < 2 || list.front() != '(' || list.back() != ')', "this form");
  for (const std::string& name : split_operands(list.substr(1, list.size() - 2))) {
    const auto parameter = d.call_parameter(name);
    if (!parameter) {
      d.malformed(fmt::format("there is no parameter '{}'", name));
    }
    places.push_back(place(*parameter));
  }
  return places;
}

void require_count(const Decoder& d, const std::vector<Operand>& places, std::size_t least) {
  d.malformed_if(places.size() < least, "wrong number of parameters");
}

void decode_brx(Decoder& d) {
  d.unsupported_if(!d.has("idx"), "this form");
  d.add(d.value(0, u32));
  const std::vector<std::int32_t> targets = d.branch_targets(1);
  for (const std::int32_t target : targets) {
    d.add(place(static_cast<std::uint64_t>(target)));
  }
  d.result.handler = &branch_by_index;
  d.result.variant = static_cast<std::uint32_t>(targets.size());
}

void decode_call(Decoder& d) {
  const bool returns = d.operand(0).starts_with('(');
  const std::string& callee = d.operand(returns ? 1 : 0);
  const std::size_t list = returns ? 2 : 1;
  if (callee != "vprintf" && callee != "__assertfail") {
    d.unsupported(fmt::format("a call of '{}'", callee));
  }
  const std::vector<Operand> places = places_of(d, d.operand(list));
  if (callee == "vprintf") {
    require_count(d, places, 2);
    const std::vector<Operand> result =
        returns ? places_of(d, d.operand(0)) : std::vector<Operand>();
    d.add(result.empty() ? Operand{kNowhere, true} : result.front());
    d.result.handler = &print;
  } else {
    require_count(d, places, 4);
    d.result.handler = &fail_assertion;
  }
  d.add(places);
}

}  // namespace

std::span<const NamedOperation> call_operations() {
  static constexpr NamedOperation kOperations[] = {{"brx", decode_brx}, {"call", decode_call}};
  return kOperations;
}

}  // namespace fatune::emulate
