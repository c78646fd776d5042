#include <array>
#include <cstdint>
#include <string_view>

#include "emulator/operations/lane_wise.hpp"
#include "emulator/operations/operations.hpp"
#include "emulator/values/floats.hpp"

// Comparisons and selections: PTX ISA 9.0, sections 9.7.6 and 9.7.7.
namespace fatune::emulate {
namespace {

using enum ScalarType;

/// The outcomes for which a comparison holds, one bit each.
using Outcomes = std::uint8_t;
constexpr Outcomes kLess = 1;
constexpr Outcomes kEqual = 2;
constexpr Outcomes kGreater = 4;
constexpr Outcomes kUnordered = 8;

struct Comparison {
  std::string_view name;
  Outcomes outcomes;
};
constexpr std::array kComparisons{Comparison{"eq", kEqual},
                                  Comparison{"ne", kLess | kGreater},
                                  Comparison{"lt", kLess},
                                  Comparison{"le", kLess | kEqual},
                                  Comparison{"gt", kGreater},
                                  Comparison{"ge", kGreater | kEqual},
                                  Comparison{"equ", kEqual | kUnordered},
                                  Comparison{"neu", kLess | kGreater | kUnordered},
                                  Comparison{"ltu", kLess | kUnordered},
                                  Comparison{"leu", kLess | kEqual | kUnordered},
                                  Comparison{"gtu", kGreater | kUnordered},
                                  Comparison{"geu", kGreater | kEqual | kUnordered},
                                  Comparison{"num", kLess | kEqual | kGreater},
                                  Comparison{"nan", kUnordered},
                                  Comparison{"lo", kLess},
                                  Comparison{"ls", kLess | kEqual},
                                  Comparison{"hi", kGreater},
                                  Comparison{"hs", kGreater | kEqual}};

template <typename T>
bool holds(Outcomes outcomes, T a, T b) {
  const bool ordered = a < b || a == b || a > b;
  return (outcomes & ((a < b ? kLess : 0) | (a == b ? kEqual : 0) | (a > b ? kGreater : 0) |
                      (ordered ? 0 : kUnordered))) != 0;
}

/// The details of a comparison.
struct CompareShape {
  Outcomes outcomes = 0;
  ScalarType type = s32;  ///< the operands' type
  ScalarType to = pred;   ///< the result's type
  bool flushes = false;
  std::optional<Update> combines;  ///< with a predicate
};

/// Compares values of all lanes: `read(0, lane)` with `read(1, lane)`.
template <typename Read>
Mask compared(const CompareShape& shape, Read read) {
  Mask result = 0;
  for (int lane = 0; lane < kLanes; ++lane) {
    result |= holds(shape.outcomes, read(0, lane), read(1, lane)) ? lane_bit(lane) : 0U;
  }
  return result;
}

/// Compares two operands, from `first` on.
template <typename T, bool kFlush>
Mask compared_words(const CompareShape& shape, const Step& step, std::size_t first) {
  const std::array sources{step.lanes<Raw<T>>(first), step.lanes<Raw<T>>(first + 1)};
  return compared(shape, [&](std::size_t operand, int lane) {
    const T value = from_raw<T>(sources[operand][lane]);
    if constexpr (kFlush) {
      return flush_subnormal(value);
    } else {
      return value;
    }
  });
}

template <typename T, bool kFlush>
void set_predicate(const Step& step) {
  const auto shape = step.instruction.details_as<CompareShape>();
  step.set_predicate(0, compared_words<T, kFlush>(shape, step, 1), step.mask);
}

Handler comparison_handler(const Decoder& d) {
  if (d.type() == f32 && d.has("ftz")) {
    return &set_predicate<float, true>;
  }
  return handler_for<b16, u16, s16, b32, u32, s32, b64, u64, s64, f32, f64>(
      d, d.type(), []<typename T>() { return &set_predicate<T, false>; });
}

// --- Rare forms: those with a second predicate or on 16-bit types, and set ---

bool is_pair(ScalarType type) { return type == f16x2 || type == bf16x2; }

Mask compared_halves(const CompareShape& shape, const Step& step, std::size_t first,
                     std::uint32_t shift) {
  const bool bfloat = shape.type == bf16 || shape.type == bf16x2;
  const FloatFormat& format = bfloat ? kBfloatFormat : kHalfFormat;
  return compared(shape, [&](std::size_t operand, int lane) {
    const auto bits = static_cast<std::uint16_t>(step.words(first + operand)[lane] >> shift);
    const bool flushed = shape.flushes && (bits & format.infinity()) == 0;
    const auto seen = static_cast<std::uint16_t>(flushed ? bits & format.sign() : bits);
    return bfloat ? from_bfloat(seen) : from_half(seen);
  });
}

/// Compares the operands from `first` on, and combines the result with the predicate after them if
/// there is one. For pairs, compares the lower values, or with `upper` the upper ones.
Mask compared_lanes(const CompareShape& shape, const Step& step, std::size_t first,
                    bool upper = false, bool opposite = false) {
  Mask result = 0;
  if (shape.type == f32 && shape.flushes) {
    result = compared_words<float, true>(shape, step, first);
  } else if (!with_type<b16, u16, s16, b32, u32, s32, b64, u64, s64, f32, f64>(
                 shape.type,
                 [&]<typename T>() { result = compared_words<T, false>(shape, step, first); })) {
    result = compared_halves(shape, step, first, upper ? 16 : 0);
  }
  result = opposite ? ~result : result;
  return shape.combines ? updated(*shape.combines, result, step.condition(first + 2)) : result;
}

/// Operands: p, q, a, b, and the predicate if there is one. For pairs, q is the result of the upper
/// values. Otherwise, q is what p would be if the comparison had the opposite result.
void set_predicates(const Step& step) {
  const auto shape = step.instruction.details_as<CompareShape>();
  const bool pair = is_pair(shape.type);
  const Mask p = compared_lanes(shape, step, 2);
  const Mask q = compared_lanes(shape, step, 2, pair, !pair);
  step.set_predicate(0, p, step.mask);
  step.set_predicate(1, q, step.mask);
}

/// The value of `type` that `set` writes where the comparison holds: all ones, or 1.0.
std::uint32_t truth(ScalarType type) {
  return type == f32                      ? 0x3f800000U
         : type == f16 || type == f16x2   ? 0x3c00U
         : type == bf16 || type == bf16x2 ? 0x3f80U
         : type == u16 || type == s16     ? 0xffffU
                                          : ~0U;
}

/// Operands: to, a, b, and the predicate if there is one.
void set_value(const Step& step) {
  const auto shape = step.instruction.details_as<CompareShape>();
  const Mask low = compared_lanes(shape, step, 1);
  const Mask high = is_pair(shape.to) ? compared_lanes(shape, step, 1, true) : 0U;
  auto* const to = step.words(0);
  step.for_each([&](int lane) {
    to[lane] = (has_lane(low, lane) ? truth(shape.to) : 0U) |
               (has_lane(high, lane) ? truth(shape.to) << 16U : 0U);
  });
}

CompareShape shape_of(const Decoder& d, ScalarType to) {
  const ScalarType t = d.type();
  d.unsupported_if(size_of(t) < 2 || t == b128 || t == tf32 || t > f64, "this type");
  const auto* const comparison =
      std::ranges::find_if(kComparisons, [&](const Comparison& one) { return d.has(one.name); });
  d.unsupported_if(comparison == kComparisons.end(), "this comparison");
  CompareShape shape{comparison->outcomes, t, to, d.has("ftz"), {}};
  if (const auto combines = d.one_of({"and", "or", "xor"})) {
    constexpr Update kUpdates[]{Update::conjunction, Update::disjunction, Update::exclusive};
    shape.combines = kUpdates[*combines];
  }
  return shape;
}

/// Adds the operands to compare, and the predicate after them.
void add_compared(Decoder& d, const CompareShape& shape) {
  const ScalarType t = is_pair(shape.type) ? b32 : size_of(shape.type) == 2 ? b16 : shape.type;
  d.from(1, t).from(2, t);
  if (shape.combines) {
    d.asks(3);
  }
  d.result.set_details(shape);
}

void decode_setp(Decoder& d) {
  const auto [p, q] = d.pair(0);
  const CompareShape shape = shape_of(d, pred);
  d.may_set(p);
  if (p != "_" && q.empty() && !shape.combines && size_of(shape.type) > 2 && !is_pair(shape.type)) {
    d.handle(comparison_handler(d));
  } else {
    d.may_set(q).handle(&set_predicates);
  }
  add_compared(d, shape);
}

void decode_set(Decoder& d) {
  d.unsupported_if(d.types().size() != 2 || size_of(d.types()[0]) > 4, "this form");
  const ScalarType to = d.types()[0];
  const CompareShape shape = shape_of(d, to);
  d.unsupported_if(is_pair(to) && !is_pair(shape.type), "this form");
  d.handle(&set_value).to(0, size_of(to) == 2 ? b16 : b32);
  add_compared(d, shape);
}

template <typename Lane>
void select(const Step& step) {
  with_sources<Lane, Lane>(step, [&](const auto* a, const auto* b) {
    auto* const to = step.lanes<Lane>(0);
    const Mask choice = step.condition(3);
    step.for_each([&](int lane) { to[lane] = has_lane(choice, lane) ? a[lane] : b[lane]; });
  });
}

/// Selects a where c is not negative, else b.
constexpr auto kSelectBySign = [](auto a, auto b, auto c) { return c >= decltype(c){0} ? a : b; };
constexpr auto kSelectByFlushedSign = [](auto a, auto b, float c) {
  return flush_subnormal(c) >= 0.0F ? a : b;
};

template <typename Lane>
Handler sign_selection(const Decoder& d) {
  return d.type() == s32 ? &lane_wise<kSelectBySign, Lane, Lane, Lane, std::int32_t>
         : d.has("ftz")  ? &lane_wise<kSelectByFlushedSign, Lane, Lane, Lane, float>
                         : &lane_wise<kSelectBySign, Lane, Lane, Lane, float>;
}

void decode_selp(Decoder& d) {
  const ScalarType t = d.type();
  d.handle(size_of(t) == 8 ? &select<std::uint64_t> : &select<std::uint32_t>);
  d.to(0, t).from(1, t).from(2, t).asks(3);
}

void decode_slct(Decoder& d) {
  d.unsupported_if(d.types().size() != 2 || (d.type() != s32 && d.type() != f32), "this form");
  const ScalarType t = d.types()[0];
  d.use(size_of(t) == 8 ? sign_selection<std::uint64_t>(d) : sign_selection<std::uint32_t>(d), t,
        {t, t, d.type()});
}

}  // namespace

Operations comparison_operations() {
  return {{"selp", decode_selp}, {"set", decode_set}, {"setp", decode_setp}, {"slct", decode_slct}};
}

}  // namespace fatune::emulate
