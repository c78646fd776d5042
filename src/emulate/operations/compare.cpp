#include <cmath>
#include <cstdint>

#include "emulate/operations/operations.hpp"
#include "emulate/operations/use_function.hpp"
#include "emulate/values/half.hpp"

// Comparisons: PTX ISA 9.0, sections 9.7.6 and 9.7.7.
namespace fatune::emulate {
namespace {

using enum ScalarType;

/// Listed in the order of the modifiers in comparison_of.
enum class Comparison : std::uint8_t {
  eq,
  ne,
  lt,
  le,
  gt,
  ge,
  equ,
  neu,
  ltu,
  leu,
  gtu,
  geu,
  num,
  nan,
  lo,
  ls,
  hi,
  hs
};
template <typename T>
bool compare(Comparison comparison, T a, T b) {
  bool unordered = false;
  if constexpr (std::is_floating_point_v<T>) {
    unordered = std::isnan(a) || std::isnan(b);
  }
  switch (comparison) {
    case Comparison::eq:
      return a == b;
    case Comparison::ne:
      return !unordered && a != b;
    case Comparison::lo:
    case Comparison::lt:
      return a < b;
    case Comparison::ls:
    case Comparison::le:
      return a <= b;
    case Comparison::hi:
    case Comparison::gt:
      return a > b;
    case Comparison::hs:
    case Comparison::ge:
      return a >= b;
    case Comparison::equ:
      return unordered || a == b;
    case Comparison::neu:
      return unordered || a != b;
    case Comparison::ltu:
      return unordered || a < b;
    case Comparison::leu:
      return unordered || a <= b;
    case Comparison::gtu:
      return unordered || a > b;
    case Comparison::geu:
      return unordered || a >= b;
    case Comparison::num:
      return !unordered;
    case Comparison::nan:
      return unordered;
  }
  return false;
}

template <typename T, bool kFlush>
void set_predicate(Execution& x, Warp& warp, const Instruction& instruction, Mask mask) {
  const auto* a = x.lanes<Raw<T>>(warp, instruction.operands[1]);
  const auto* b = x.lanes<Raw<T>>(warp, instruction.operands[2]);
  const auto comparison = instruction.details_as<Comparison>();
  Mask result = 0;
  for (int lane = 0; lane < kLanes; ++lane) {
    T left = from_raw<T>(a[lane]);
    T right = from_raw<T>(b[lane]);
    if constexpr (kFlush) {
      left = flush_subnormal(left);
      right = flush_subnormal(right);
    }
    result |= compare(comparison, left, right) ? lane_bit(lane) : 0U;
  }
  Mask& to = warp.predicates[instruction.operands[0].offset];
  to = (to & ~mask) | (result & mask);
}

Handler comparison_handler(const Decoder& d) {
  if (d.type() == f32 && d.has("ftz")) {
    return &set_predicate<float, true>;
  }
  return handler_for<b16, u16, s16, b32, u32, s32, b64, u64, s64, f32, f64>(
      d, d.type(), []<typename T>() { return &set_predicate<T, false>; });
}

// --- Rare forms: those with a second predicate or on 16-bit types, and set ---

/// The details of a comparison in a rare form.
struct CompareShape {
  Comparison comparison = Comparison::eq;
  ScalarType type = s32;  ///< the operands' type
  ScalarType to = pred;   ///< the result's type
  bool flushes = false;
  std::uint8_t combines = 0;  ///< 1: and, 2: or, 3: xor with a predicate
};

bool is_pair(ScalarType type) { return type == f16x2 || type == bf16x2; }

template <typename T, typename Read>
Mask compared(const CompareShape& shape, Read read) {
  Mask result = 0;
  for (int lane = 0; lane < kLanes; ++lane) {
    result |= compare<T>(shape.comparison, read(0, lane), read(1, lane)) ? lane_bit(lane) : 0U;
  }
  return result;
}

template <typename T>
Mask compared_words(const CompareShape& shape, Execution& x, const Warp& warp, const Operand* o) {
  return compared<T>(shape, [&](std::size_t operand, int lane) {
    const T value = from_raw<T>(x.lanes<Raw<T>>(warp, o[operand])[lane]);
    if constexpr (std::is_same_v<T, float>) {
      return shape.flushes ? flush_subnormal(value) : value;
    } else {
      return value;
    }
  });
}

Mask compared_halves(const CompareShape& shape, Execution& x, const Warp& warp, const Operand* o,
                     std::uint32_t shift) {
  const bool bfloat = shape.type == bf16 || shape.type == bf16x2;
  return compared<float>(shape, [&](std::size_t operand, int lane) {
    const auto bits =
        static_cast<std::uint16_t>(x.lanes<std::uint32_t>(warp, o[operand])[lane] >> shift);
    const bool subnormal = (bits & (bfloat ? 0x7f80U : 0x7c00U)) == 0;
    const auto seen =
        static_cast<std::uint16_t>(shape.flushes && subnormal ? bits & 0x8000U : bits);
    return bfloat ? from_bfloat(seen) : from_half(seen);
  });
}

/// For pairs, compares the lower values, or with `upper` the upper ones.
Mask compared_lanes(const CompareShape& shape, Execution& x, const Warp& warp, const Operand* o,
                    bool upper) {
  Mask result = 0;
  const bool is_word = with_type<b16, u16, s16, b32, u32, s32, b64, u64, s64, f32, f64>(
      shape.type, [&]<typename T>() { result = compared_words<T>(shape, x, warp, o); });
  return is_word ? result : compared_halves(shape, x, warp, o, upper ? 16 : 0);
}

/// Combines a comparison's result with a predicate, by AND, OR or XOR.
Mask combined(const CompareShape& shape, Mask result, const Warp& warp, const Operand* with) {
  if (shape.combines == 0) {
    return result;
  }
  const Mask other = condition_of(warp, *with);
  return shape.combines == 1   ? result & other
         : shape.combines == 2 ? result | other
                               : result ^ other;
}

void assign(Warp& warp, const Operand& to, Mask value, Mask mask) {
  if (to.offset != kNowhere) {
    Mask& bits = warp.predicates[to.offset];
    bits = (bits & ~mask) | (value & mask);
  }
}

/// Operands: p, q, a, b, and the predicate if there is one. For pairs, q is the result of the upper
/// values. Otherwise, q is what p would be if the comparison had the opposite result.
void set_predicates(Execution& x, Warp& warp, const Instruction& instruction, Mask mask) {
  const auto shape = instruction.details_as<CompareShape>();
  const Operand* const o = instruction.operands;
  const Mask first = compared_lanes(shape, x, warp, o + 2, false);
  const Mask second = is_pair(shape.type) ? compared_lanes(shape, x, warp, o + 2, true) : ~first;
  const Mask p = combined(shape, first, warp, o + 4);
  const Mask q = combined(shape, second, warp, o + 4);
  assign(warp, o[0], p, mask);
  assign(warp, o[1], q, mask);
}

/// The value of `type` that `set` writes where the comparison holds: all ones, or 1.0.
std::uint32_t truth(ScalarType type) {
  switch (type) {
    case f32:
      return 0x3f800000U;
    case f16:
    case f16x2:
      return 0x3c00U;
    case bf16:
    case bf16x2:
      return 0x3f80U;
    case u16:
    case s16:
      return 0xffffU;
    default:
      return ~0U;
  }
}

/// Operands: to, a, b, and the predicate if there is one.
void set_value(Execution& x, Warp& warp, const Instruction& instruction, Mask mask) {
  const auto shape = instruction.details_as<CompareShape>();
  const Operand* const o = instruction.operands;
  const Mask low = combined(shape, compared_lanes(shape, x, warp, o + 1, false), warp, o + 3);
  const Mask high = is_pair(shape.to)
                        ? combined(shape, compared_lanes(shape, x, warp, o + 1, true), warp, o + 3)
                        : 0U;
  auto* const to = x.lanes<std::uint32_t>(warp, o[0]);
  for_each_lane(mask, [&](int lane) {
    to[lane] = (has_lane(low, lane) ? truth(shape.to) : 0U) |
               (has_lane(high, lane) ? truth(shape.to) << 16U : 0U);
  });
}

Comparison comparison_of(const Decoder& d) {
  const auto comparison = d.one_of({"eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu",
                                    "gtu", "geu", "num", "nan", "lo", "ls", "hi", "hs"});
  d.unsupported_if(!comparison, "this comparison");
  return static_cast<Comparison>(*comparison);
}

CompareShape shape_of(const Decoder& d, ScalarType to) {
  const ScalarType t = d.type();
  d.unsupported_if(size_of(t) < 2 || t == b128 || t == tf32 || t > f64, "this type");
  CompareShape shape;
  shape.comparison = comparison_of(d);
  shape.type = t;
  shape.to = to;
  shape.flushes = d.has("ftz");
  const auto combines = d.one_of({"and", "or", "xor"});
  shape.combines = combines ? static_cast<std::uint8_t>(*combines + 1) : 0;
  return shape;
}

/// Adds the operands to compare, and the predicate after them.
void add_compared(Decoder& d, const CompareShape& shape) {
  const ScalarType t = is_pair(shape.type) ? b32 : size_of(shape.type) == 2 ? b16 : shape.type;
  d.add(d.value(1, t));
  d.add(d.value(2, t));
  if (shape.combines != 0) {
    d.add(d.condition(3));
  }
}

void decode_setp(Decoder& d) {
  const auto [p, q] = d.pair(0);
  const CompareShape shape = shape_of(d, pred);
  d.add(d.predicate_or_nowhere(p));
  if (p != "_" && q.empty() && shape.combines == 0 && size_of(shape.type) > 2 &&
      !is_pair(shape.type)) {
    d.result.handler = comparison_handler(d);
    d.result.set_details(shape.comparison);
    add_compared(d, shape);
    return;
  }
  d.add(d.predicate_or_nowhere(q));
  d.result.handler = &set_predicates;
  add_compared(d, shape);
  d.result.set_details(shape);
}

void decode_set(Decoder& d) {
  d.unsupported_if(d.types().size() != 2 || size_of(d.types()[0]) > 4, "this form");
  const ScalarType to = d.types()[0];
  const CompareShape shape = shape_of(d, to);
  d.unsupported_if(is_pair(to) && !is_pair(shape.type), "this form");
  d.add(d.destination(0, size_of(to) == 2 ? b16 : b32));
  d.result.handler = &set_value;
  add_compared(d, shape);
  d.result.set_details(shape);
}

}  // namespace

std::span<const NamedOperation> comparison_operations() {
  static constexpr NamedOperation kOperations[] = {{"set", decode_set}, {"setp", decode_setp}};
  return kOperations;
}

}  // namespace fatune::emulate
