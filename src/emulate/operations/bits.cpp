#include <algorithm>
#include <cstdint>
#include <functional>

#include "emulate/operations/operations.hpp"
#include "emulate/operations/use_function.hpp"

// Logic, shifts and bytes: PTX ISA 9.0, section 9.7.8.
namespace fatune::emulate {
namespace {

using enum ScalarType;

/// Shifts by the width or more give zero, or copies of the sign.
struct ShiftLeft {
  template <typename T>
  T operator()(T a, std::uint32_t by) const {
    return by >= 8 * sizeof(T) ? T{0} : static_cast<T>(a << by);
  }
};
struct ShiftRight {
  template <typename T>
  T operator()(T a, std::uint32_t by) const {
    constexpr std::uint32_t kTop = 8 * sizeof(T) - 1;
    if (by > kTop) {
      return static_cast<T>(std::is_signed_v<T> && a < 0 ? -1 : 0);
    }
    return static_cast<T>(a >> by);
  }
};

// --- Predicates: whole masks at once ---

enum class PredicateLogic : std::uint32_t { conjunction, disjunction, exclusive, negation };

void predicate_logic(Execution&, Warp& warp, const Instruction& instruction, Mask mask) {
  const auto get = [&](std::size_t operand) {
    return condition_of(warp, instruction.operands[operand]);
  };
  Mask result = 0;
  switch (static_cast<PredicateLogic>(instruction.variant)) {
    case PredicateLogic::conjunction:
      result = get(1) & get(2);
      break;
    case PredicateLogic::disjunction:
      result = get(1) | get(2);
      break;
    case PredicateLogic::exclusive:
      result = get(1) ^ get(2);
      break;
    case PredicateLogic::negation:
      result = ~get(1);
      break;
  }
  set_mask(warp, instruction.operands[0], result, mask);
}

void use_predicates(Decoder& d, PredicateLogic logic, std::size_t count) {
  d.result.handler = &predicate_logic;
  d.result.variant = static_cast<std::uint32_t>(logic);
  d.add(d.predicate(0));
  for (std::size_t i = 1; i < count; ++i) {
    d.add(d.condition(i));
  }
}

template <typename F>
void use_logic(Decoder& d) {
  const Handler handler =
      handler_for<b16, b32, b64>(d, d.type(), []<typename T>() { return &lane_wise<F, T, T, T>; });
  use(d, handler, d.type(), {d.type(), d.type()});
}

// --- Bytes and truth tables ---

/// prmt's default mode: each selector nibble picks a byte of b:a, or replicates its sign.
struct PermuteBytes {
  std::uint32_t operator()(std::uint32_t a, std::uint32_t b, std::uint32_t selectors) const {
    const std::uint64_t both = std::uint64_t{b} << 32U | a;
    std::uint32_t value = 0;
    for (std::uint32_t i = 0; i < 4; ++i) {
      const std::uint32_t selector = selectors >> (4 * i) & 0xfU;
      const auto byte = static_cast<std::uint32_t>(both >> (8 * (selector & 7U)) & 0xffU);
      const std::uint32_t spread = (byte & 0x80U) != 0 ? 0xffU : 0U;
      value |= ((selector & 8U) != 0 ? spread : byte) << (8 * i);
    }
    return value;
  }
};

void truth_table(Execution& x, Warp& warp, const Instruction& instruction, Mask mask) {
  const auto* a = x.lanes<std::uint32_t>(warp, instruction.operands[1]);
  const auto* b = x.lanes<std::uint32_t>(warp, instruction.operands[2]);
  const auto* c = x.lanes<std::uint32_t>(warp, instruction.operands[3]);
  auto* to = x.lanes<std::uint32_t>(warp, instruction.operands[0]);
  for_each_lane(mask, [&](int lane) {
    std::uint32_t value = 0;
    for (std::uint32_t row = 0; row < 8; ++row) {
      if ((instruction.variant >> row & 1U) != 0) {
        value |= ((row & 4U) != 0 ? a[lane] : ~a[lane]) & ((row & 2U) != 0 ? b[lane] : ~b[lane]) &
                 ((row & 1U) != 0 ? c[lane] : ~c[lane]);
      }
    }
    to[lane] = value;
  });
}

/// lop3 that also sets a predicate: whether the result is not 0, combined with another predicate.
template <bool kAnd>
void truth_table_and_test(Execution& x, Warp& warp, const Instruction& instruction, Mask mask) {
  truth_table(x, warp, instruction, mask);
  const auto* value = x.lanes<std::uint32_t>(warp, instruction.operands[0]);
  Mask some = 0;
  for_each_lane(mask, [&](int lane) { some |= value[lane] != 0 ? lane_bit(lane) : 0U; });
  const Mask with = condition_of(warp, instruction.operands[5]);
  set_mask(warp, instruction.operands[4], kAnd ? some & with : some | with, mask);
}

// --- Shifts of two words ---

constexpr std::uint32_t clamped_count(std::uint32_t by) { return std::min(by, 32U); }

template <bool kClamps>
std::uint32_t funnel_left(std::uint32_t a, std::uint32_t b, std::uint32_t by) {
  const std::uint64_t both = std::uint64_t{b} << 32U | a;
  return static_cast<std::uint32_t>(both << (kClamps ? clamped_count(by) : by & 31U) >> 32U);
}
template <bool kClamps>
std::uint32_t funnel_right(std::uint32_t a, std::uint32_t b, std::uint32_t by) {
  const std::uint64_t both = std::uint64_t{b} << 32U | a;
  return static_cast<std::uint32_t>(both >> (kClamps ? clamped_count(by) : by & 31U));
}

// --- The modes of prmt ---

enum class Permutation : std::uint8_t { f4e, b4e, rc8, ecl, ecr, rc16 };

constexpr std::uint32_t source_byte(Permutation mode, std::uint32_t selector, std::uint32_t i) {
  switch (mode) {
    case Permutation::f4e:
      return selector + i;
    case Permutation::b4e:
      return (selector - i) & 7U;
    case Permutation::rc8:
      return selector;
    case Permutation::ecl:
      return std::max(selector, i);
    case Permutation::ecr:
      return std::min(selector, i);
    case Permutation::rc16:
      break;
  }
  return 2 * (selector & 1U) + (i & 1U);
}

template <Permutation kMode>
std::uint32_t permute(std::uint32_t a, std::uint32_t b, std::uint32_t selector) {
  const std::uint64_t both = std::uint64_t{b} << 32U | a;
  std::uint32_t value = 0;
  for (std::uint32_t i = 0; i < 4; ++i) {
    value |= static_cast<std::uint32_t>(both >> (8 * source_byte(kMode, selector & 3U, i)) & 0xffU)
             << (8 * i);
  }
  return value;
}

struct IsZero {
  template <typename T>
  T operator()(T a) const {
    return a == 0 ? 1 : 0;
  }
};

void decode_logic(Decoder& d) {
  const bool conjunction = d.name() == "and";
  const bool disjunction = d.name() == "or";
  if (d.type() == pred) {
    return use_predicates(d,
                          conjunction   ? PredicateLogic::conjunction
                          : disjunction ? PredicateLogic::disjunction
                                        : PredicateLogic::exclusive,
                          3);
  }
  return conjunction   ? use_logic<std::bit_and<>>(d)
         : disjunction ? use_logic<std::bit_or<>>(d)
                       : use_logic<std::bit_xor<>>(d);
}

void decode_not(Decoder& d) {
  if (d.type() == pred) {
    return use_predicates(d, PredicateLogic::negation, 2);
  }
  const Handler handler = handler_for<b16, b32, b64>(
      d, d.type(), []<typename T>() { return &lane_wise<std::bit_not<>, T, T>; });
  use(d, handler, d.type(), {d.type()});
}

void decode_shl(Decoder& d) {
  const Handler handler = handler_for<b16, b32, b64>(
      d, d.type(), []<typename T>() { return &lane_wise<ShiftLeft, T, T, std::uint32_t>; });
  use(d, handler, d.type(), {d.type(), u32});
}

void decode_shr(Decoder& d) {
  const Handler handler = handler_for<b16, u16, s16, b32, u32, s32, b64, u64, s64>(
      d, d.type(), []<typename T>() { return &lane_wise<ShiftRight, T, T, std::uint32_t>; });
  use(d, handler, d.type(), {d.type(), u32});
}

void decode_shf(Decoder& d) {
  if (d.has("clamp")) {
    return d.has("l") ? use_function<&funnel_left<true>>(d) : use_function<&funnel_right<true>>(d);
  }
  return d.has("l") ? use_function<&funnel_left<false>>(d) : use_function<&funnel_right<false>>(d);
}

void decode_prmt(Decoder& d) {
  using enum Permutation;
  if (d.has("f4e")) return use_function<&permute<f4e>>(d);
  if (d.has("b4e")) return use_function<&permute<b4e>>(d);
  if (d.has("rc8")) return use_function<&permute<rc8>>(d);
  if (d.has("ecl")) return use_function<&permute<ecl>>(d);
  if (d.has("ecr")) return use_function<&permute<ecr>>(d);
  if (d.has("rc16")) return use_function<&permute<rc16>>(d);
  use(d, &lane_wise<PermuteBytes, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>, b32,
      {b32, b32, b32});
}

void decode_lop3(Decoder& d) {
  const auto logic = d.one_of({"or", "and"});
  d.unsupported_if(d.operand_count() != (logic ? 6U : 5U), "this form");
  const auto [to, test] = d.pair(0);
  d.add(d.destination_named(to, b32));
  for (std::size_t i = 1; i < 4; ++i) {
    d.add(d.value(i, b32));
  }
  d.result.handler = &truth_table;
  d.result.variant = static_cast<std::uint32_t>(d.immediate(4)) & 0xffU;
  if (logic) {
    d.result.handler = *logic == 1 ? &truth_table_and_test<true> : &truth_table_and_test<false>;
    d.add(d.predicate_named(test.empty() ? to : test));
    d.add(d.condition(5));
  }
}

void decode_cnot(Decoder& d) {
  const Handler handler = handler_for<b16, b32, b64>(
      d, d.type(), []<typename T>() { return &lane_wise<IsZero, T, T>; });
  use(d, handler, d.type(), {d.type()});
}

}  // namespace

std::span<const NamedOperation> bit_operations() {
  static constexpr NamedOperation kOperations[] = {
      {"and", decode_logic}, {"cnot", decode_cnot}, {"lop3", decode_lop3}, {"not", decode_not},
      {"or", decode_logic},  {"prmt", decode_prmt}, {"shf", decode_shf},   {"shl", decode_shl},
      {"shr", decode_shr},   {"xor", decode_logic}};
  return kOperations;
}

}  // namespace fatune::emulate
