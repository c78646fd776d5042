#include <cstdint>

#include "emulator/operations/lane_wise.hpp"
#include "emulator/operations/operations.hpp"
#include "emulator/values/integers.hpp"

// Integer arithmetic, and sums of several words with a carry from one instruction to the next:
// PTX ISA 9.0, sections 9.7.1 and 9.7.2.
namespace fatune::emulate {
namespace {

using enum ScalarType;

template <auto kFunction>
void use_unary(Decoder& d) {
  use_for<kFunction, Own(Own), s16, s32, s64>(d);
}
template <auto kFunction>
void use_binary(Decoder& d) {
  use_for<kFunction, Own(Own, Own), u16, s16, u32, s32, u64, s64>(d);
}
template <auto kFunction>
void use_ternary(Decoder& d) {
  use_for<kFunction, Own(Own, Own, Own), u16, s16, u32, s32, u64, s64>(d);
}

/// Applies kFunction to each 16-bit half of the operands.
template <auto kFunction, typename T>
std::uint32_t in_halves(std::uint32_t a, std::uint32_t b) {
  const auto of = [&](std::uint32_t shift) {
    const T value = kFunction(static_cast<T>(a >> shift), static_cast<T>(b >> shift));
    return static_cast<std::uint32_t>(static_cast<std::uint16_t>(value)) << shift;
  };
  return of(16) | of(0);
}

/// Decodes an instruction on integers, or on two of them in 32 bits.
template <auto kFunction>
void use_maybe_packed(Decoder& d) {
  return d.type() == u16x2   ? use_function<&in_halves<kFunction, std::uint16_t>>(d)
         : d.type() == s16x2 ? use_function<&in_halves<kFunction, std::int16_t>>(d)
                             : use_binary<kFunction>(d);
}

/// .relu: negative results are zero.
template <auto kFunction>
struct Rectified {
  template <typename T>
  T operator()(T a, T b) const {
    return std::max(kFunction(a, b), T{0});
  }
};

template <auto kFunction>
void use_integer_extremum(Decoder& d) {
  if (!d.has("relu")) {
    return use_maybe_packed<kFunction>(d);
  }
  constexpr Rectified<kFunction> kRectified;
  return d.type() == s16x2 ? use_function<&in_halves<kRectified, std::int16_t>>(d)
                           : use_for<kRectified, Own(Own, Own), s32>(d);
}

constexpr auto kAddSaturated = [](std::int32_t a, std::int32_t b) {
  return saturated<std::int32_t>(std::int64_t{a} + b);
};
constexpr auto kSubtractSaturated = [](std::int32_t a, std::int32_t b) {
  return saturated<std::int32_t>(std::int64_t{a} - b);
};
constexpr auto kMultiplyAddSaturated = [](std::int32_t a, std::int32_t b, std::int32_t c) {
  return saturated<std::int32_t>((std::int64_t{a} * b >> 32) + c);
};

constexpr auto kProduct24 = []<typename T>(T a, T b) {
  constexpr int kUnused = 8;
  const auto low = [](T value) {
    return static_cast<T>(static_cast<std::uint32_t>(value) << kUnused) >> kUnused;
  };
  return Twice<T>{low(a)} * low(b);
};
constexpr auto kMultiply24Low = []<typename T>(T a, T b) {
  return static_cast<T>(kProduct24(a, b));
};
/// The upper 32 of the 48 bits of the product.
constexpr auto kMultiply24High = []<typename T>(T a, T b) {
  return static_cast<T>(kProduct24(a, b) >> 16);
};
constexpr auto kMultiplyAdd24Saturated = [](std::int32_t a, std::int32_t b, std::int32_t c) {
  return saturated<std::int32_t>((kProduct24(a, b) >> 16) + c);
};

template <typename Part>
std::int32_t part_of(std::uint32_t value, std::uint32_t index) {
  return static_cast<Part>(value >> (8 * sizeof(Part) * index));
}

/// c plus the sum of kCount products of parts of a and b. The parts of b start at kFirst.
template <typename A, typename B, std::uint32_t kCount, std::uint32_t kFirst>
std::uint32_t dot_product(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  for (std::uint32_t i = 0; i < kCount; ++i) {
    c += static_cast<std::uint32_t>(part_of<A>(a, i) * part_of<B>(b, kFirst + i));
  }
  return c;
}

template <typename Unsigned, typename Signed, std::uint32_t kCount, std::uint32_t kFirst>
void use_dot_product(Decoder& d) {
  d.unsupported_if(d.types().size() != 2, "this form");
  const auto use_b = [&]<typename A>(A) {
    d.types()[1] == u32 ? use_function<&dot_product<A, std::uint8_t, kCount, kFirst>>(d)
                        : use_function<&dot_product<A, std::int8_t, kCount, kFirst>>(d);
  };
  d.types()[0] == u32 ? use_b(Unsigned{}) : use_b(Signed{});
}

struct CarryForm {
  bool subtracts = false;
  bool multiplies = false;
  bool high = false;
  bool takes = false;  ///< adds the carry
  bool gives = false;  ///< sets the carry
};

/// Operands: the sum, two factors or the first summand, the second summand, the carry.
template <typename T>
void carry(const Step& step) {
  using U = std::make_unsigned_t<T>;
  const auto form = step.instruction.details_as<CarryForm>();
  std::size_t o = 0;
  U* const to = step.lanes<U>(o++);
  const U* const a = step.lanes<U>(o++);
  const U* const factor = form.multiplies ? step.lanes<U>(o++) : nullptr;
  const U* const b = step.lanes<U>(o++);
  const Mask before = form.takes ? step.condition(o) : 0U;
  const Mask after = lanes_where(step.mask, [&](int lane) {
    const auto first = static_cast<T>(a[lane]);
    const T product = factor == nullptr ? first
                      : form.high       ? kMultiplyHigh(first, static_cast<T>(factor[lane]))
                                        : kMultiplyLow(first, static_cast<T>(factor[lane]));
    const Unsigned128 second = Unsigned128{b[lane]} + (has_lane(before, lane) ? 1U : 0U);
    const auto summand = static_cast<U>(product);
    const Unsigned128 sum = form.subtracts ? summand - second : summand + second;
    to[lane] = static_cast<U>(sum);
    return (sum >> (8 * sizeof(U))) != 0;
  });
  if (form.gives) {
    step.set_predicate(o, after, step.mask);
  }
}

/// Decodes add.cc, addc, sub.cc, subc, mad.cc and madc.
void decode_carry(Decoder& d) {
  const CarryForm form{d.name().starts_with("sub"), d.name().starts_with("mad"), d.has("hi"),
                       d.name().ends_with("c"), d.has("cc")};
  const ScalarType t = d.type();
  refuse(d, {"wide", "sat"});
  d.handle(handler_for<u32, s32, u64, s64>(d, t, []<typename T>() { return &carry<T>; }));
  d.to(0, t).from(1, t).from(2, t);
  if (form.multiplies) {
    d.from(3, t);
  }
  d.add(d.names.carry());
  d.result.set_details(form);
}

void decode_integer_add(Decoder& d) {
  return d.has("cc")    ? decode_carry(d)
         : d.has("sat") ? use_for<kAddSaturated, Own(Own, Own), s32>(d)
                        : use_maybe_packed<kAdd>(d);
}

void decode_integer_sub(Decoder& d) {
  return d.has("cc")    ? decode_carry(d)
         : d.has("sat") ? use_for<kSubtractSaturated, Own(Own, Own), s32>(d)
                        : use_binary<kSubtract>(d);
}

void decode_integer_mul(Decoder& d) {
  return d.has("wide") ? use_for<kMultiplyWide, Doubled(Own, Own), u16, s16, u32, s32>(d)
         : d.has("hi") ? use_binary<kMultiplyHigh>(d)
                       : use_binary<kMultiplyLow>(d);
}

void decode_integer_mad(Decoder& d) {
  if (d.has("cc")) {
    return decode_carry(d);
  }
  if (d.has("wide")) {
    return use_for<MultiplyThenAdd<kMultiplyWide>{}, Doubled(Own, Own, Doubled), u16, s16, u32,
                   s32>(d);
  }
  return d.has("sat")  ? use_for<kMultiplyAddSaturated, Own(Own, Own, Own), s32>(d)
         : d.has("hi") ? use_ternary<MultiplyThenAdd<kMultiplyHigh>{}>(d)
                       : use_ternary<MultiplyThenAdd<kMultiplyLow>{}>(d);
}

void decode_mul24(Decoder& d) {
  return d.has("hi") ? use_for<kMultiply24High, Own(Own, Own), u32, s32>(d)
                     : use_for<kMultiply24Low, Own(Own, Own), u32, s32>(d);
}

void decode_mad24(Decoder& d) {
  using Signature = Own(Own, Own, Own);
  return d.has("sat")  ? use_for<kMultiplyAdd24Saturated, Signature, s32>(d)
         : d.has("hi") ? use_for<MultiplyThenAdd<kMultiply24High>{}, Signature, u32, s32>(d)
                       : use_for<MultiplyThenAdd<kMultiply24Low>{}, Signature, u32, s32>(d);
}

void decode_dp2a(Decoder& d) {
  return d.has("hi") ? use_dot_product<std::uint16_t, std::int16_t, 2, 2>(d)
                     : use_dot_product<std::uint16_t, std::int16_t, 2, 0>(d);
}

}  // namespace

Operations integer_operations() {
  return {{"abs", use_unary<kAbsolute>},
          {"add", decode_integer_add},
          {"addc", decode_carry},
          {"div", use_binary<kDivide>},
          {"dp2a", decode_dp2a},
          {"dp4a", use_dot_product<std::uint8_t, std::int8_t, 4, 0>},
          {"mad", decode_integer_mad},
          {"mad24", decode_mad24},
          {"madc", decode_carry},
          {"max", use_integer_extremum<kMaximum>},
          {"min", use_integer_extremum<kMinimum>},
          {"mul", decode_integer_mul},
          {"mul24", decode_mul24},
          {"neg", use_unary<kNegate>},
          {"rem", use_binary<kRemainder>},
          {"sad", use_ternary<kAddDifference>},
          {"sub", decode_integer_sub},
          {"subc", decode_carry}};
}

}  // namespace fatune::emulate
