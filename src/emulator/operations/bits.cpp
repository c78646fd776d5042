#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <functional>

#include "emulator/operations/lane_wise.hpp"
#include "emulator/operations/operations.hpp"

// Logic, shifts, bytes, and fields and counts of bits: PTX ISA 9.0, sections 9.7.1 and 9.7.8.
namespace fatune::emulate {
namespace {

using enum ScalarType;

// --- Logic. On predicates: whole masks at once ---

void predicate_logic(const Step& step) {
  const auto logic = static_cast<Update>(step.instruction.variant);
  step.set_predicate(0, updated(logic, step.condition(1), step.condition(2)), step.mask);
}

template <auto kFunction, Update kLogic>
void use_logic(Decoder& d) {
  if (d.type() == pred) {
    d.handle(&predicate_logic, kLogic).sets(0).asks(1).asks(2);
  } else {
    use_for<kFunction, Own(Own, Own), b16, b32, b64>(d);
  }
}

void decode_not(Decoder& d) {
  if (d.type() == pred) {
    d.handle([](const Step& step) { step.set_predicate(0, ~step.condition(1), step.mask); });
    d.sets(0).asks(1);
  } else {
    use_for<std::bit_not<>{}, Own(Own), b16, b32, b64>(d);
  }
}

constexpr auto kIsZero = []<typename T>(T a) { return T{a == 0}; };

void truth_table(const Step& step) {
  with_sources<std::uint32_t, std::uint32_t, std::uint32_t>(step, [&](const auto* a, const auto* b,
                                                                      const auto* c) {
    auto* const to = step.words(0);
    step.for_each([&](int lane) {
      std::uint32_t value = 0;
      for (std::uint32_t row = 0; row < 8; ++row) {
        if ((step.instruction.variant >> row & 1U) != 0) {
          value |= ((row & 4U) != 0 ? a[lane] : ~a[lane]) & ((row & 2U) != 0 ? b[lane] : ~b[lane]) &
                   ((row & 1U) != 0 ? c[lane] : ~c[lane]);
        }
      }
      to[lane] = value;
    });
  });
}

/// lop3 that also sets a predicate: whether the result is not 0, combined with another predicate.
template <Update kLogic>
void truth_table_and_test(const Step& step) {
  truth_table(step);
  const auto* const value = step.words(0);
  const Mask some = lanes_where(step.mask, [&](int lane) { return value[lane] != 0; });
  step.set_predicate(4, updated(kLogic, some, step.condition(5)), step.mask);
}

void decode_lop3(Decoder& d) {
  const auto logic = d.one_of({"or", "and"});
  d.unsupported_if(d.operand_count() != (logic ? 6U : 5U), "this form");
  const auto [to, test] = d.pair(0);
  d.handle(&truth_table, d.immediate(4) & 0xff);
  d.to(to, b32).from(1, b32).from(2, b32).from(3, b32);
  if (logic) {
    d.result.handler = *logic == 1 ? &truth_table_and_test<Update::conjunction>
                                   : &truth_table_and_test<Update::disjunction>;
    d.sets(test.empty() ? to : test).asks(5);
  }
}

// --- Shifts. By the width or more, they give zero, or copies of the sign ---

constexpr auto kShiftLeft = []<typename T>(T a, std::uint32_t by) {
  return by >= 8 * sizeof(T) ? T{0} : static_cast<T>(a << by);
};
constexpr auto kShiftRight = []<typename T>(T a, std::uint32_t by) {
  if (by >= 8 * sizeof(T)) {
    return static_cast<T>(std::is_signed_v<T> && a < 0 ? -1 : 0);
  }
  return static_cast<T>(a >> by);
};

/// Shifts two words.
template <bool kClamps, bool kLeft>
std::uint32_t funnel(std::uint32_t a, std::uint32_t b, std::uint32_t by) {
  const std::uint64_t both = std::uint64_t{b} << 32U | a;
  const std::uint32_t count = kClamps ? std::min(by, 32U) : by & 31U;
  return static_cast<std::uint32_t>(kLeft ? both << count >> 32U : both >> count);
}

void decode_shf(Decoder& d) {
  if (d.has("clamp")) {
    return d.has("l") ? use_function<&funnel<true, true>>(d)
                      : use_function<&funnel<true, false>>(d);
  }
  return d.has("l") ? use_function<&funnel<false, true>>(d)
                    : use_function<&funnel<false, false>>(d);
}

/// prmt's default mode: each selector nibble picks a byte of b:a, or replicates its sign.
std::uint32_t permute_bytes(std::uint32_t a, std::uint32_t b, std::uint32_t selectors) {
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

/// prmt's other modes: kSource(selector, i) is the byte of b:a that becomes byte i.
template <auto kSource>
std::uint32_t permute(std::uint32_t a, std::uint32_t b, std::uint32_t selector) {
  const std::uint64_t both = std::uint64_t{b} << 32U | a;
  std::uint32_t value = 0;
  for (std::uint32_t i = 0; i < 4; ++i) {
    value |= static_cast<std::uint32_t>(both >> (8 * kSource(selector & 3U, i)) & 0xffU) << (8 * i);
  }
  return value;
}

constexpr auto kForward4 = [](std::uint32_t selector, std::uint32_t i) { return selector + i; };
constexpr auto kBackward4 = [](std::uint32_t selector, std::uint32_t i) {
  return (selector - i) & 7U;
};
constexpr auto kReplicate8 = [](std::uint32_t selector, std::uint32_t) { return selector; };
constexpr auto kReplicate16 = [](std::uint32_t selector, std::uint32_t i) {
  return 2 * (selector & 1U) + (i & 1U);
};

void decode_prmt(Decoder& d) {
  if (d.has("f4e")) return use_function<&permute<kForward4>>(d);
  if (d.has("b4e")) return use_function<&permute<kBackward4>>(d);
  if (d.has("rc8")) return use_function<&permute<kReplicate8>>(d);
  if (d.has("ecl")) return use_function<&permute<kMaximum>>(d);
  if (d.has("ecr")) return use_function<&permute<kMinimum>>(d);
  if (d.has("rc16")) return use_function<&permute<kReplicate16>>(d);
  use_function<&permute_bytes>(d);
}

/// 32-bit fields use the low 8 bits of position and length; 64-bit fields use all bits.
template <typename T>
constexpr std::uint32_t kFieldMask = sizeof(T) == 8 ? ~0U : 0xffU;

constexpr auto kInsertField = []<typename T>(T a, T b, std::uint32_t position,
                                             std::uint32_t length) {
  const std::uint32_t at = position & kFieldMask<T>;
  const std::uint32_t count = length & kFieldMask<T>;
  constexpr std::uint32_t kBits = 8 * sizeof(T);
  if (at >= kBits || count == 0) {
    return b;
  }
  const T field = count >= kBits ? static_cast<T>(~T{0}) : static_cast<T>((T{1} << count) - 1);
  const T mask = static_cast<T>(field << at);
  return static_cast<T>((b & ~mask) | ((a << at) & mask));
};

constexpr auto kExtractField = []<typename T>(T a, std::uint32_t position, std::uint32_t length) {
  using U = std::make_unsigned_t<T>;
  constexpr std::uint32_t kBits = 8 * sizeof(T);
  const std::uint32_t at = std::min(position & kFieldMask<T>, kBits);
  const std::uint32_t count = std::min(length & kFieldMask<T>, kBits);
  const std::uint32_t top = std::min(at + count - 1, kBits - 1);
  const bool sign = count != 0 && std::is_signed_v<T> && ((a >> top) & 1) != 0;
  U value = 0;
  for (std::uint32_t i = 0; i < kBits; ++i) {
    const bool inside = i < count && at + i < kBits;
    const bool bit = inside ? ((a >> (at + i)) & 1) != 0 : sign;
    value |= U{bit} << i;
  }
  return static_cast<T>(value);
};

constexpr auto kReverseBits = []<typename T>(T a) {
  T value = 0;
  for (std::size_t i = 0; i < 8 * sizeof(T); ++i) {
    value = static_cast<T>(value << 1U | (a >> i & 1U));
  }
  return value;
};

/// `width` ones from `start` on.
template <bool kWraps>
std::uint32_t field_of_ones(std::uint32_t start, std::uint32_t width) {
  const auto limited = [](std::uint32_t n) { return kWraps ? n & 31U : std::min(n, 32U); };
  const std::uint64_t ones = (std::uint64_t{1} << limited(width)) - 1;
  return static_cast<std::uint32_t>(ones << limited(start));
}

void decode_bmsk(Decoder& d) {
  return d.has("wrap") ? use_function<&field_of_ones<true>>(d)
                       : use_function<&field_of_ones<false>>(d);
}

/// The lower `width` bits, sign-extended or zero-extended according to the type.
template <bool kWraps>
struct Extend {
  template <typename T>
  T operator()(T a, std::uint32_t width) const {
    const std::uint32_t count = kWraps ? width & 31U : std::min(width, 32U);
    if (count == 0) {
      return 0;
    }
    const std::uint32_t unused = 32 - count;
    return static_cast<T>(static_cast<T>(static_cast<std::uint32_t>(a) << unused) >> unused);
  }
};

void decode_szext(Decoder& d) {
  return d.has("wrap") ? use_for<Extend<true>{}, Own(Own, std::uint32_t), u32, s32>(d)
                       : use_for<Extend<false>{}, Own(Own, std::uint32_t), u32, s32>(d);
}

constexpr auto kCountOnes = [](auto a) { return static_cast<std::uint32_t>(std::popcount(a)); };
constexpr auto kCountLeadingZeros = [](auto a) {
  return static_cast<std::uint32_t>(std::countl_zero(a));
};

/// The position of the highest one, or of a negative number's highest zero. All ones: there is
/// none. With kShift, its distance from the top.
template <bool kShift>
struct FindHighest {
  template <typename T>
  std::uint32_t operator()(T a) const {
    const auto bits = static_cast<std::make_unsigned_t<T>>(a < 0 ? ~a : a);
    const auto zeros = static_cast<std::uint32_t>(std::countl_zero(bits));
    return bits == 0 ? ~0U : kShift ? zeros : static_cast<std::uint32_t>(8 * sizeof(T) - 1) - zeros;
  }
};

void decode_bfind(Decoder& d) {
  return d.has("shiftamt")
             ? use_for<FindHighest<true>{}, std::uint32_t(Own), u32, s32, u64, s64>(d)
             : use_for<FindHighest<false>{}, std::uint32_t(Own), u32, s32, u64, s64>(d);
}

/// The position of the |offset|-th one from `base` on, upwards, or downwards if `offset` is
/// negative. If `offset` is 0, `base` if that bit is one. All ones: there is none.
/// source: PTX ISA 9.0, section 9.7.1.17 (fns)
std::uint32_t find_nth(std::uint32_t bits, std::uint32_t base, std::int32_t offset) {
  const int step = offset < 0 ? -1 : 1;
  std::int64_t left = offset == 0 ? 0 : std::abs(std::int64_t{offset}) - 1;
  for (std::int64_t at = base; at >= 0 && at < kLanes; at += step) {
    if ((bits >> at & 1U) != 0 && left-- == 0) {
      return static_cast<std::uint32_t>(at);
    }
    if (offset == 0) {
      break;
    }
  }
  return ~0U;
}

}  // namespace

Operations bit_operations() {
  using Count = std::uint32_t(Own);
  using Shift = Own(Own, std::uint32_t);
  using Extract = Own(Own, std::uint32_t, std::uint32_t);
  using Insert = Own(Own, Own, std::uint32_t, std::uint32_t);
  return {{"and", use_logic<std::bit_and<>{}, Update::conjunction>},
          {"bfe", use_for<kExtractField, Extract, u32, s32, u64, s64>},
          {"bfi", use_for<kInsertField, Insert, b32, b64>},
          {"bfind", decode_bfind},
          {"bmsk", decode_bmsk},
          {"brev", use_for<kReverseBits, Own(Own), b32, b64>},
          {"clz", use_for<kCountLeadingZeros, Count, b32, b64>},
          {"cnot", use_for<kIsZero, Own(Own), b16, b32, b64>},
          {"fns", use_function<&find_nth>},
          {"lop3", decode_lop3},
          {"not", decode_not},
          {"or", use_logic<std::bit_or<>{}, Update::disjunction>},
          {"popc", use_for<kCountOnes, Count, b32, b64>},
          {"prmt", decode_prmt},
          {"shf", decode_shf},
          {"shl", use_for<kShiftLeft, Shift, b16, b32, b64>},
          {"shr", use_for<kShiftRight, Shift, b16, u16, s16, b32, u32, s32, b64, u64, s64>},
          {"szext", decode_szext},
          {"xor", use_logic<std::bit_xor<>{}, Update::exclusive>}};
}

}  // namespace fatune::emulate
