#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "emulate/half.hpp"
#include "emulate/literal.hpp"
#include "emulate/map_lanes.hpp"
#include "emulate/memory_access.hpp"
#include "emulate/operations.hpp"

// Moves, conversions, comparisons and selections: PTX ISA 9.0, sections 9.7.5, 9.7.6 and 9.7.9.
namespace fatune::emulate {
namespace {

using enum ScalarType;

struct Same {
  template <typename T>
  T operator()(T a) const {
    return a;
  }
};

// --- mov of vectors: {a, b} into one register, or apart ---

void pack(Execution& x, Warp& warp, const Instruction& instruction, Mask mask) {
  const auto bits = static_cast<std::uint32_t>(instruction.variant & 0xffU);  // of a part
  const std::uint32_t count = instruction.variant >> 8U;
  for_each_lane(mask, [&](int lane) {
    std::uint64_t value = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
      // Above a narrow part's bits may be those of a sign.
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
  const std::size_t count = 1 + static_cast<std::size_t>(std::count(d.operand(vector).begin(),
                                                                    d.operand(vector).end(), ','));
  const ScalarType part = bytes / static_cast<int>(count) == 4 ? b32 : b16;
  if ((bytes != 4 && bytes != 8) || static_cast<int>(count) * size_of(part) != bytes) {
    d.unsupported("this vector");
  }
  if (packs) {
    d.add(d.destination(0, d.type()));
    d.add(d.values(1, part));
  } else {
    d.add(d.destinations(0, part));
    d.add(d.value(1, d.type()));
  }
  if (d.result_operands.size() != count + 1) {
    d.malformed("the number of registers");
  }
  d.result.handler = packs ? &pack : &unpack;
  d.result.variant =
      static_cast<std::uint32_t>(count) << 8U | static_cast<std::uint32_t>(8 * size_of(part));
}

void add_offset(Execution& x, Warp& warp, const Instruction& instruction, Mask mask) {
  const auto* from = x.lanes<std::uint64_t>(warp, instruction.operands[1]);
  auto* to = x.lanes<std::uint64_t>(warp, instruction.operands[0]);
  for_each_lane(mask, [&](int lane) {
    to[lane] = from[lane] + static_cast<std::uint64_t>(instruction.offset);
  });
}

void move_predicate(Execution& x, Warp& warp, const Instruction& instruction, Mask mask) {
  const Operand& from = instruction.operands[1];
  const Mask value = from.constant
                         ? (*x.program.constants.at<Mask>(from.offset) != 0 ? kAllLanes : Mask{0})
                         : warp.predicates[from.offset];
  Mask& to = warp.predicates[instruction.operands[0].offset];
  to = (to & ~mask) | (value & mask);
}

// --- cvt ---

template <typename To, typename From>
struct IntegerCast {
  To operator()(From a) const { return static_cast<To>(a); }
};

template <typename To>
Handler from_integer(const Decoder& d, ScalarType from) {
  switch (from) {
    case u8:
      return &lane_wise<IntegerCast<To, std::uint8_t>, To, std::uint8_t>;
    case s8:
      return &lane_wise<IntegerCast<To, std::int8_t>, To, std::int8_t>;
    case u16:
      return &lane_wise<IntegerCast<To, std::uint16_t>, To, std::uint16_t>;
    case s16:
      return &lane_wise<IntegerCast<To, std::int16_t>, To, std::int16_t>;
    case u32:
      return &lane_wise<IntegerCast<To, std::uint32_t>, To, std::uint32_t>;
    case s32:
      return &lane_wise<IntegerCast<To, std::int32_t>, To, std::int32_t>;
    case u64:
      return &lane_wise<IntegerCast<To, std::uint64_t>, To, std::uint64_t>;
    case s64:
      return &lane_wise<IntegerCast<To, std::int64_t>, To, std::int64_t>;
    default:
      d.unsupported();
  }
}

/// Beyond the range: the nearest value; NaN: zero, or in 64 bits the highest one alone. Rounded to
/// an integer first by `Round`.
template <typename To, typename From, typename Round>
struct FloatToInteger {
  To operator()(From a) const {
    const From rounded = Round{}(a);
    if (std::isnan(a)) {
      return sizeof(To) == 8 ? static_cast<To>(std::uint64_t{1} << 63U) : To{0};
    }
    constexpr auto kLeast = static_cast<double>(std::numeric_limits<To>::min());
    const double beyond = std::ldexp(1.0, std::numeric_limits<To>::digits);
    if (static_cast<double>(rounded) >= beyond) {
      return std::numeric_limits<To>::max();
    }
    return static_cast<double>(rounded) < kLeast ? std::numeric_limits<To>::min()
                                                 : static_cast<To>(rounded);
  }
};
struct TowardsZero {
  template <typename T>
  T operator()(T a) const {
    return std::trunc(a);
  }
};
struct ToNearest {
  template <typename T>
  T operator()(T a) const {
    return std::nearbyint(a);  // the default rounding mode: ties to even
  }
};
struct Down {
  template <typename T>
  T operator()(T a) const {
    return std::floor(a);
  }
};
struct Up {
  template <typename T>
  T operator()(T a) const {
    return std::ceil(a);
  }
};

/// The .ftz form of a conversion from single precision.
template <typename F>
struct FlushedSource {
  auto operator()(float a) const { return F{}(flush_subnormal(a)); }
};

template <typename Round>
Handler rounded_to_integer(const Decoder& d, ScalarType to) {
  switch (to) {
    case s32:
      return &lane_wise<FloatToInteger<std::int32_t, float, Round>, std::int32_t, float>;
    case u32:
      return &lane_wise<FloatToInteger<std::uint32_t, float, Round>, std::uint32_t, float>;
    case s64:
      return &lane_wise<FloatToInteger<std::int64_t, float, Round>, std::int64_t, float>;
    case u64:
      return &lane_wise<FloatToInteger<std::uint64_t, float, Round>, std::uint64_t, float>;
    default:
      d.unsupported();
  }
}

template <typename Round>
Handler float_to_integer(const Decoder& d, ScalarType to) {
  return d.has("ftz") ? rounded_to_integer<FlushedSource<Round>>(d, to)
                      : rounded_to_integer<Round>(d, to);
}

template <typename Round>
Handler rounded_float(const Decoder& d) {
  return d.has("ftz") ? &lane_wise<FlushedSource<Round>, float, float>
                      : &lane_wise<Round, float, float>;
}

struct HalfToFloat {
  float operator()(std::uint16_t a) const { return from_half(a); }
};
struct BfloatToFloat {
  float operator()(std::uint16_t a) const { return from_bfloat(a); }
};
struct FloatToHalf {
  std::uint16_t operator()(float a) const { return to_half(a); }
};
struct FloatToBfloat {
  std::uint16_t operator()(float a) const { return to_bfloat(a); }
};
/// The first source goes to the upper half.
struct FloatsToHalves {
  std::uint32_t operator()(float a, float b) const {
    return static_cast<std::uint32_t>(to_half(a)) << 16U | to_half(b);
  }
};
struct FloatsToBfloats {
  std::uint32_t operator()(float a, float b) const {
    return static_cast<std::uint32_t>(to_bfloat(a)) << 16U | to_bfloat(b);
  }
};
struct FloatToDouble {
  double operator()(float a) const { return static_cast<double>(a); }
};
struct DoubleToFloat {
  float operator()(double a) const { return static_cast<float>(a); }
};
struct DoubleToFlushed {
  float operator()(double a) const { return flush_subnormal(static_cast<float>(a)); }
};

bool is_integer(ScalarType type) { return type >= u8 && type <= s64; }

Handler to_integer(const Decoder& d, ScalarType to, ScalarType from) {
  if (from == f32) {
    if (d.has("rzi")) return float_to_integer<TowardsZero>(d, to);
    if (d.has("rni")) return float_to_integer<ToNearest>(d, to);
    if (d.has("rmi")) return float_to_integer<Down>(d, to);
    if (d.has("rpi")) return float_to_integer<Up>(d, to);
    d.unsupported("this rounding");
  }
  switch (to) {
    case u8:
      return from_integer<std::uint8_t>(d, from);
    case s8:
      return from_integer<std::int8_t>(d, from);
    case u16:
      return from_integer<std::uint16_t>(d, from);
    case s16:
      return from_integer<std::int16_t>(d, from);
    case u32:
      return from_integer<std::uint32_t>(d, from);
    case s32:
      return from_integer<std::int32_t>(d, from);
    case u64:
      return from_integer<std::uint64_t>(d, from);
    case s64:
      return from_integer<std::int64_t>(d, from);
    default:
      d.unsupported();
  }
}

Handler to_float(const Decoder& d, ScalarType to, ScalarType from) {
  if (is_integer(from) && to != f32 && to != f64) {
    d.unsupported();
  }
  if (is_integer(from)) {
    return to == f32 ? from_integer<float>(d, from) : from_integer<double>(d, from);
  }
  if (to == f32 && from == f16) return &lane_wise<HalfToFloat, float, std::uint16_t>;
  if (to == f32 && from == bf16) return &lane_wise<BfloatToFloat, float, std::uint16_t>;
  if (to == f16 && from == f32) return &lane_wise<FloatToHalf, std::uint16_t, float>;
  if (to == bf16 && from == f32) return &lane_wise<FloatToBfloat, std::uint16_t, float>;
  if (to == f64 && from == f32) {
    return d.has("ftz") ? &lane_wise<FlushedSource<FloatToDouble>, double, float>
                        : &lane_wise<FloatToDouble, double, float>;
  }
  if (to == f32 && from == f64) {
    return d.has("ftz") ? &lane_wise<DoubleToFlushed, float, double>
                        : &lane_wise<DoubleToFloat, float, double>;
  }
  if (to == f32 && from == f32) {
    if (d.has("rzi")) return rounded_float<TowardsZero>(d);
    if (d.has("rni")) return rounded_float<ToNearest>(d);
    if (d.has("rmi")) return rounded_float<Down>(d);
    if (d.has("rpi")) return rounded_float<Up>(d);
  }
  d.unsupported();
}

// --- setp, selp ---

/// In the order of the modifiers in decode_setp.
enum class Comparison : std::uint32_t {
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
  const auto comparison = static_cast<Comparison>(instruction.variant);
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
  switch (d.type()) {
    case b16:
    case u16:
      return &set_predicate<std::uint16_t, false>;
    case s16:
      return &set_predicate<std::int16_t, false>;
    case b32:
    case u32:
      return &set_predicate<std::uint32_t, false>;
    case s32:
      return &set_predicate<std::int32_t, false>;
    case b64:
    case u64:
      return &set_predicate<std::uint64_t, false>;
    case s64:
      return &set_predicate<std::int64_t, false>;
    case f32:
      return d.has("ftz") ? &set_predicate<float, true> : &set_predicate<float, false>;
    case f64:
      return &set_predicate<double, false>;
    default:
      d.unsupported();
  }
}

template <typename Lane>
void select(Execution& x, Warp& warp, const Instruction& instruction, Mask mask) {
  const auto* a = x.lanes<Lane>(warp, instruction.operands[1]);
  const auto* b = x.lanes<Lane>(warp, instruction.operands[2]);
  const Mask choice = warp.predicates[instruction.operands[3].offset];
  auto* to = x.lanes<Lane>(warp, instruction.operands[0]);
  for_each_lane(mask, [&](int lane) { to[lane] = has_lane(choice, lane) ? a[lane] : b[lane]; });
}

}  // namespace

void decode_mov(Decoder& d) {
  if (d.type() == pred) {
    d.result.handler = &move_predicate;
    const bool is_constant = literal_bits(d.operand(1), pred).has_value();
    d.add(d.predicate(0));
    d.add(is_constant ? d.value(1, b32) : d.predicate(1));
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

void decode_cvt(Decoder& d) {
  if (d.types().size() != 2 || d.one_of({"sat", "relu", "satfinite"})) {
    d.unsupported("this form");
  }
  const ScalarType to = d.types()[0];
  const ScalarType from = d.types()[1];
  if (to == f16x2 || to == bf16x2) {
    if (from != f32 || !d.has("rn") || d.operand_count() != 3) {
      d.unsupported("only .rn, from two .f32");
    }
    use(d,
        to == f16x2 ? &lane_wise<FloatsToHalves, std::uint32_t, float, float>
                    : &lane_wise<FloatsToBfloats, std::uint32_t, float, float>,
        b32, {f32});
    d.add(d.value(2, f32));
    return;
  }
  const bool may_round = is_integer(from) || size_of(to) < size_of(from);
  if (is_float(to) && may_round && !d.has("rn")) {
    d.unsupported("only .rn");
  }
  use(d, is_float(to) ? to_float(d, to, from) : to_integer(d, to, from), to, {from});
}

/// Between generic addresses and those of a space: operands are (to, from).
void decode_cvta(Decoder& d) {
  const bool to_space = d.has("to");
  const std::uint64_t window = d.has("shared")  ? kSharedWindow
                               : d.has("local") ? kLocalWindow
                               : d.has("param") ? kParameterWindow
                                                : 0;
  if (d.type() != u64 || d.has("const")) {
    d.unsupported("only .u64, of device, shared, local memory and parameters");
  }
  use(d, &add_offset, u64, {u64});
  d.result.offset = static_cast<std::int64_t>(to_space ? 0 - window : window);
}

void decode_selp(Decoder& d) {
  const ScalarType t = d.type();
  use(d, size_of(t) == 8 ? &select<std::uint64_t> : &select<std::uint32_t>, t, {t});
  d.add(d.value(2, t));
  d.add(d.predicate(3));
}

void decode_setp(Decoder& d) {
  const auto comparison = d.one_of({"eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu",
                                    "gtu", "geu", "num", "nan", "lo", "ls", "hi", "hs"});
  if (!comparison || d.operand_count() != 3 || d.operand(0).find('|') != std::string::npos) {
    d.unsupported("this form");
  }
  d.result.handler = comparison_handler(d);
  d.result.variant = static_cast<std::uint32_t>(*comparison);
  d.add(d.predicate(0));
  d.add(d.value(1, d.type()));
  d.add(d.value(2, d.type()));
}

}  // namespace fatune::emulate
