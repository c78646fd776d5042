#include <bit>
#include <cstdint>

#include "emulate/map_lanes.hpp"
#include "emulate/operations.hpp"

// Logic, shifts and bit fields: PTX ISA 9.0, section 9.7.8 and the bit instructions of 9.7.1.
namespace fatune::emulate {
namespace {

using enum ScalarType;

struct And {
  template <typename T>
  T operator()(T a, T b) const {
    return static_cast<T>(a & b);
  }
};
struct Or {
  template <typename T>
  T operator()(T a, T b) const {
    return static_cast<T>(a | b);
  }
};
struct Xor {
  template <typename T>
  T operator()(T a, T b) const {
    return static_cast<T>(a ^ b);
  }
};
struct Not {
  template <typename T>
  T operator()(T a) const {
    return static_cast<T>(~a);
  }
};
/// Shifts by the width or more give zero, or the sign.
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

void predicate_logic(Execution& x, Warp& warp, const Instruction& instruction, Mask mask) {
  const auto get = [&](std::size_t operand) {
    const Operand& o = instruction.operands[operand];
    return o.constant ? *x.program.constants.at<Mask>(o.offset) != 0 ? kAllLanes : Mask{0}
                      : warp.predicates[o.offset];
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
  Mask& to = warp.predicates[instruction.operands[0].offset];
  to = (to & ~mask) | (result & mask);
}

void use_predicates(Decoder& d, PredicateLogic logic, std::size_t count) {
  d.result.handler = &predicate_logic;
  d.result.variant = static_cast<std::uint32_t>(logic);
  for (std::size_t i = 0; i < count; ++i) {
    d.add(d.predicate(i));
  }
}

template <typename F>
Handler logic_handler(const Decoder& d) {
  switch (d.type()) {
    case b16:
      return &lane_wise<F, std::uint16_t, std::uint16_t, std::uint16_t>;
    case b32:
      return &lane_wise<F, std::uint32_t, std::uint32_t, std::uint32_t>;
    case b64:
      return &lane_wise<F, std::uint64_t, std::uint64_t, std::uint64_t>;
    default:
      d.unsupported();
  }
}

// --- Bit fields ---

struct InsertField {
  template <typename T>
  T operator()(T a, T b, std::uint32_t position, std::uint32_t length) const {
    const std::uint32_t at = position & 0xffU;
    const std::uint32_t count = length & 0xffU;
    constexpr std::uint32_t kBits = 8 * sizeof(T);
    if (at >= kBits || count == 0) {
      return b;
    }
    const T field = count >= kBits ? static_cast<T>(~T{0}) : static_cast<T>((T{1} << count) - 1);
    const T mask = static_cast<T>(field << at);
    return static_cast<T>((b & ~mask) | ((a << at) & mask));
  }
};
struct ExtractField {
  template <typename T>
  T operator()(T a, std::uint32_t position, std::uint32_t length) const {
    constexpr std::uint32_t kBits = 8 * sizeof(T);
    const std::uint32_t at = position & 0xffU;
    const std::uint32_t count = length & 0xffU;
    if (count == 0) {
      return 0;
    }
    const std::uint32_t top = std::min(at + count - 1, kBits - 1);
    const bool sign = std::is_signed_v<T> && ((a >> top) & 1) != 0;
    T value = 0;
    for (std::uint32_t i = 0; i < kBits; ++i) {
      const bool inside = i < count && at + i < kBits;
      const bool bit = inside ? ((a >> (at + i)) & 1) != 0 : sign;
      using U = std::make_unsigned_t<T>;
      value = static_cast<T>(static_cast<U>(value) | static_cast<U>(U{bit} << i));
    }
    return value;
  }
};

struct CountOnes {
  template <typename T>
  std::uint32_t operator()(T a) const {
    return static_cast<std::uint32_t>(std::popcount(a));
  }
};
struct CountLeadingZeros {
  template <typename T>
  std::uint32_t operator()(T a) const {
    return static_cast<std::uint32_t>(std::countl_zero(a));
  }
};
struct ReverseBits {
  template <typename T>
  T operator()(T a) const {
    T value = 0;
    for (std::size_t i = 0; i < 8 * sizeof(T); ++i) {
      value = static_cast<T>(value << 1U | (a >> i & 1U));
    }
    return value;
  }
};

// --- Bytes and truth tables ---

/// prmt's default mode: each selector nibble picks a byte of b:a, or spreads its sign.
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

struct FunnelLeftWrap {
  std::uint32_t operator()(std::uint32_t a, std::uint32_t b, std::uint32_t by) const {
    const std::uint64_t both = std::uint64_t{b} << 32U | a;
    return static_cast<std::uint32_t>(both << (by & 31U) >> 32U);
  }
};
struct FunnelRightWrap {
  std::uint32_t operator()(std::uint32_t a, std::uint32_t b, std::uint32_t by) const {
    const std::uint64_t both = std::uint64_t{b} << 32U | a;
    return static_cast<std::uint32_t>(both >> (by & 31U));
  }
};

}  // namespace

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
  const Handler handler = conjunction   ? logic_handler<And>(d)
                          : disjunction ? logic_handler<Or>(d)
                                        : logic_handler<Xor>(d);
  use(d, handler, d.type(), {d.type(), d.type()});
}

void decode_not(Decoder& d) {
  switch (d.type()) {
    case pred:
      return use_predicates(d, PredicateLogic::negation, 2);
    case b16:
      return use(d, &lane_wise<Not, std::uint16_t, std::uint16_t>, b16, {b16});
    case b32:
      return use(d, &lane_wise<Not, std::uint32_t, std::uint32_t>, b32, {b32});
    case b64:
      return use(d, &lane_wise<Not, std::uint64_t, std::uint64_t>, b64, {b64});
    default:
      d.unsupported();
  }
}

void decode_shl(Decoder& d) {
  switch (d.type()) {
    case b16:
      return use(d, &lane_wise<ShiftLeft, std::uint16_t, std::uint16_t, std::uint32_t>, b16,
                 {b16, u32});
    case b32:
      return use(d, &lane_wise<ShiftLeft, std::uint32_t, std::uint32_t, std::uint32_t>, b32,
                 {b32, u32});
    case b64:
      return use(d, &lane_wise<ShiftLeft, std::uint64_t, std::uint64_t, std::uint32_t>, b64,
                 {b64, u32});
    default:
      d.unsupported();
  }
}

void decode_shr(Decoder& d) {
  const ScalarType t = d.type();
  switch (t) {
    case b16:
    case u16:
      return use(d, &lane_wise<ShiftRight, std::uint16_t, std::uint16_t, std::uint32_t>, t,
                 {t, u32});
    case s16:
      return use(d, &lane_wise<ShiftRight, std::int16_t, std::int16_t, std::uint32_t>, t, {t, u32});
    case b32:
    case u32:
      return use(d, &lane_wise<ShiftRight, std::uint32_t, std::uint32_t, std::uint32_t>, t,
                 {t, u32});
    case s32:
      return use(d, &lane_wise<ShiftRight, std::int32_t, std::int32_t, std::uint32_t>, t, {t, u32});
    case b64:
    case u64:
      return use(d, &lane_wise<ShiftRight, std::uint64_t, std::uint64_t, std::uint32_t>, t,
                 {t, u32});
    case s64:
      return use(d, &lane_wise<ShiftRight, std::int64_t, std::int64_t, std::uint32_t>, t, {t, u32});
    default:
      d.unsupported();
  }
}

void decode_shf(Decoder& d) {
  if (d.has("clamp")) {
    d.unsupported("only .wrap");
  }
  use(d,
      d.has("l")
          ? &lane_wise<FunnelLeftWrap, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>
          : &lane_wise<FunnelRightWrap, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>,
      b32, {b32, b32, u32});
}

void decode_prmt(Decoder& d) {
  if (d.part_count() != 2) {
    d.unsupported("only the default mode");
  }
  use(d, &lane_wise<PermuteBytes, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>, b32,
      {b32, b32, b32});
}

void decode_lop3(Decoder& d) {
  if (d.operand_count() != 5) {
    d.unsupported("this form");
  }
  use(d, &truth_table, b32, {b32, b32, b32});
  d.result.variant = static_cast<std::uint32_t>(d.immediate(4)) & 0xffU;
}

void decode_bfi(Decoder& d) {
  const ScalarType t = d.type();
  if (t != b32 && t != b64) {
    d.unsupported();
  }
  use(d,
      t == b64 ? &lane_wise<InsertField, std::uint64_t, std::uint64_t, std::uint64_t, std::uint32_t,
                            std::uint32_t>
               : &lane_wise<InsertField, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t,
                            std::uint32_t>,
      t, {t, t, u32, u32});
}

void decode_bfe(Decoder& d) {
  const ScalarType t = d.type();
  switch (t) {
    case u32:
      return use(
          d, &lane_wise<ExtractField, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>,
          t, {t, u32, u32});
    case s32:
      return use(d,
                 &lane_wise<ExtractField, std::int32_t, std::int32_t, std::uint32_t, std::uint32_t>,
                 t, {t, u32, u32});
    case u64:
      return use(
          d, &lane_wise<ExtractField, std::uint64_t, std::uint64_t, std::uint32_t, std::uint32_t>,
          t, {t, u32, u32});
    case s64:
      return use(d,
                 &lane_wise<ExtractField, std::int64_t, std::int64_t, std::uint32_t, std::uint32_t>,
                 t, {t, u32, u32});
    default:
      d.unsupported();
  }
}

void decode_count_bits(Decoder& d) {
  const bool wide = d.type() == b64;
  if (!wide && d.type() != b32) {
    d.unsupported();
  }
  if (d.name() == "brev") {
    return use(d,
               wide ? &lane_wise<ReverseBits, std::uint64_t, std::uint64_t>
                    : &lane_wise<ReverseBits, std::uint32_t, std::uint32_t>,
               d.type(), {d.type()});
  }
  if (d.name() == "popc") {
    return use(d,
               wide ? &lane_wise<CountOnes, std::uint32_t, std::uint64_t>
                    : &lane_wise<CountOnes, std::uint32_t, std::uint32_t>,
               u32, {d.type()});
  }
  use(d,
      wide ? &lane_wise<CountLeadingZeros, std::uint32_t, std::uint64_t>
           : &lane_wise<CountLeadingZeros, std::uint32_t, std::uint32_t>,
      u32, {d.type()});
}

}  // namespace fatune::emulate
