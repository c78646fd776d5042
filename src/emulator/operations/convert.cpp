#include <array>
#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <type_traits>

#include "emulator/operations/lane_wise.hpp"
#include "emulator/operations/operations.hpp"
#include "emulator/values/floats.hpp"
#include "emulator/values/fp8.hpp"
#include "emulator/values/integers.hpp"

// cvt: PTX ISA 9.0, section 9.7.9.22. Every conversion between two types, lane by lane, and the
// forms that most programs use, as loops over lanes.
namespace fatune::emulate {
namespace {

using enum ScalarType;

constexpr std::uint32_t kTf32Unused = 13;  ///< bits

/// The details of a conversion.
struct Conversion {
  ScalarType to = f32;
  ScalarType from = f32;
  Rounding rounding = Rounding::nearest;
  bool to_integral = false;  ///< .rni and so on
  bool saturates = false;
  bool rectifies = false;
  bool flushes = false;
};

Conversion conversion_of(const Decoder& d) {
  Conversion c;
  c.to = d.types().at(0);
  c.from = d.types().at(1);
  const auto integral = d.one_of({"rni", "rzi", "rmi", "rpi"});
  c.rounding = static_cast<Rounding>(
      integral ? *integral : d.one_of({"rn", "rz", "rm", "rp", "rna"}).value_or(0));
  c.to_integral = integral.has_value();
  c.saturates = d.has("sat");
  c.rectifies = d.has("relu");
  c.flushes = d.has("ftz");
  return c;
}

Signed128 integer_in(std::uint64_t bits, ScalarType type) {
  const int unused = 64 - 8 * size_of(type);
  const std::uint64_t top = bits << unused;
  return is_signed(type) ? Signed128{static_cast<std::int64_t>(top) >> unused}
                         : Signed128{top >> unused};
}

/// The bits as a register holds them. Narrow signed values are sign-extended.
std::uint64_t integer_bits(Signed128 value, ScalarType type) {
  return static_cast<std::uint64_t>(integer_in(static_cast<std::uint64_t>(value), type));
}

Signed128 least_of(ScalarType type) {
  return is_signed(type) ? -(Signed128{1} << (8 * size_of(type) - 1)) : Signed128{0};
}
Signed128 most_of(ScalarType type) {
  return (Signed128{1} << (8 * size_of(type) - (is_signed(type) ? 1 : 0))) - 1;
}

double flushed_single(float value, bool flushes) {
  return static_cast<double>(flushes ? flush_subnormal(canonical(value)) : value);
}

double float_in(std::uint64_t bits, ScalarType type, bool flushes) {
  switch (type) {
    case f16:
      return static_cast<double>(from_half(static_cast<std::uint16_t>(bits)));
    case bf16:
      return static_cast<double>(from_bfloat(static_cast<std::uint16_t>(bits)));
    case f64:
      return std::bit_cast<double>(bits);
    default:
      return flushed_single(std::bit_cast<float>(static_cast<std::uint32_t>(bits)), flushes);
  }
}

double integral(double value, Rounding rounding) {
  return rounding == Rounding::zero   ? std::trunc(value)
         : rounding == Rounding::down ? std::floor(value)
         : rounding == Rounding::up   ? std::ceil(value)
                                      : std::nearbyint(value);
}

/// Values out of range become the nearest one in range. A NaN becomes 0, or only the highest bit
/// if either type has 64 bits.
Signed128 integer_of(double value, const Conversion& c) {
  if (std::isnan(value)) {
    return size_of(c.to) == 8 || size_of(c.from) == 8 ? Signed128{1} << (8 * size_of(c.to) - 1) : 0;
  }
  const double rounded = integral(value, c.rounding);
  constexpr double kBeyondAll = 0x1p65;
  return std::clamp(static_cast<Signed128>(std::clamp(rounded, -kBeyondAll, kBeyondAll)),
                    least_of(c.to), most_of(c.to));
}

/// A NaN of double precision keeps its sign and the upper bits of its fraction.
std::uint64_t shortened_nan(double value, const FloatFormat& format) {
  constexpr int kFractionBits = 52;
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const std::uint64_t fraction = bits << 12U >> (12 + kFractionBits - format.fraction_bits);
  const std::uint64_t quiet = std::uint64_t{1} << (format.fraction_bits - 1);
  return (std::signbit(value) ? format.sign() : 0U) | format.infinity() | quiet | fraction;
}

std::uint64_t shortened(double value, const FloatFormat& format, const Conversion& c) {
  return std::isnan(value) && c.from == f64 && !c.saturates ? shortened_nan(value, format)
                                                            : narrowed(value, format, c.rounding);
}

std::uint64_t float_bits(double value, const Conversion& c) {
  switch (c.to) {
    case f16:
      return shortened(value, kHalfFormat, c);
    case bf16:
      return shortened(value, kBfloatFormat, c);
    case tf32:
      return narrowed(value, kTf32Format, c.rounding) << kTf32Unused;
    case f32: {
      const auto bits = static_cast<std::uint32_t>(shortened(value, kSingleFormat, c));
      const auto single = std::bit_cast<float>(bits);
      return to_raw<float>(c.flushes ? flush_subnormal(single) : single);
    }
    default:
      return to_raw<double>(canonical_of(value, value));
  }
}

/// Rounds the magnitude of an integer to a double. The sign matters for the rounding.
double rounded_double(std::uint64_t magnitude, bool negative, Rounding rounding) {
  const auto nearest = static_cast<double>(magnitude);
  const auto exact = static_cast<Signed128>(nearest) - static_cast<Signed128>(magnitude);
  const bool outwards = rounding == (negative ? Rounding::down : Rounding::up);
  if (exact == 0 || rounding == Rounding::nearest || (exact > 0) == outwards) {
    return nearest;
  }
  return std::nextafter(nearest, outwards ? 0x1p128 : 0.0);
}

std::uint64_t float_of_integer(Signed128 value, const Conversion& c) {
  const bool negative = value < 0;
  const auto magnitude = static_cast<std::uint64_t>(negative ? -value : value);
  const double number =
      c.to == f64 ? rounded_double(magnitude, negative, c.rounding) : odd_double(magnitude);
  return float_bits(limited(negative ? -number : number, c.saturates, c.rectifies), c);
}

/// Rounds to tf32, ties away from zero. The unused bits of a NaN are cut off.
std::uint64_t tf32_rounded_away(std::uint64_t bits) {
  constexpr std::uint64_t kUnused = (std::uint64_t{1} << kTf32Unused) - 1;
  const bool is_nan = std::isnan(from_raw<float>(static_cast<std::uint32_t>(bits)));
  return (is_nan ? bits : bits + (std::uint64_t{1} << (kTf32Unused - 1))) & ~kUnused;
}

std::uint64_t converted(std::uint64_t bits, const Conversion& c) {
  if (is_integer(c.from)) {
    const Signed128 value = integer_in(bits, c.from);
    if (!is_integer(c.to)) {
      return float_of_integer(value, c);
    }
    return integer_bits(c.saturates ? std::clamp(value, least_of(c.to), most_of(c.to)) : value,
                        c.to);
  }
  if (c.to == tf32 && c.rounding == Rounding::nearest_away) {
    return tf32_rounded_away(bits);
  }
  const double value = float_in(bits, c.from, c.flushes);
  if (is_integer(c.to)) {
    return integer_bits(integer_of(value, c), c.to);
  }
  return float_bits(
      limited(c.to_integral ? integral(value, c.rounding) : value, c.saturates, c.rectifies), c);
}

template <typename To, typename From>
void convert(const Step& step) {
  const auto c = step.instruction.details_as<Conversion>();
  with_sources<From>(step, [&](const auto* from) {
    auto* const to = step.lanes<To>(0);
    step.for_each([&](int lane) { to[lane] = static_cast<To>(converted(from[lane], c)); });
  });
}

/// Decodes cvt from one type to another, with any rounding, .sat, .relu and .ftz.
void use_conversion(Decoder& d) {
  const Conversion c = conversion_of(d);
  const auto known = [](ScalarType type) {
    return is_integer(type) || type == f16 || type == bf16 || type == f32 || type == f64;
  };
  d.unsupported_if(!known(c.from) || !(known(c.to) || c.to == tf32) || d.has("satfinite") ||
                       (c.to == tf32 && c.from != f32),
                   "this form");
  // An integer may be the low part of a wider register.
  const bool low_part = is_integer(c.from) && size_of(c.from) < 8 && d.is_wide(1);
  d.unsupported_if(low_part && (!is_integer(c.to) || size_of(c.to) < 4 || c.saturates),
                   "from a register of a different width");
  const bool wide_to = size_of(c.to) == 8;
  const bool wide_from = size_of(c.from) == 8 || low_part;
  using Narrow = std::uint32_t;
  using Wide = std::uint64_t;
  d.use(wide_to ? (wide_from ? &convert<Wide, Wide> : &convert<Wide, Narrow>)
                : (wide_from ? &convert<Narrow, Wide> : &convert<Narrow, Narrow>),
        wide_to ? b64 : b32, {low_part ? b64 : c.from});
  d.result.set_details(c);
}

constexpr Fp8 fp8_of_pair(ScalarType type) { return type == e4m3x2 ? Fp8::e4m3 : Fp8::e5m2; }

std::uint32_t value_in_pair(double value, const Conversion& c) {
  const double seen = limited(value, c.saturates, c.rectifies);
  switch (c.to) {
    case f16x2:
      return narrowed(seen, kHalfFormat, c.rounding);
    case bf16x2:
      return narrowed(seen, kBfloatFormat, c.rounding);
    default:
      return to_fp8(seen, fp8_of_pair(c.to));
  }
}

double value_of_pair(std::uint32_t pair, bool upper, const Conversion& c) {
  const auto half = c.from == f16x2 ? static_cast<std::uint16_t>(pair >> (upper ? 16U : 0U))
                                    : half_of(static_cast<std::uint8_t>(pair >> (upper ? 8U : 0U)),
                                              fp8_of_pair(c.from));
  return static_cast<double>(from_half(half));
}

/// Converts two sources, or the two values of one.
template <typename... From>
void convert_pair(const Step& step) {
  const auto c = step.instruction.details_as<Conversion>();
  const std::uint32_t shift = size_of(c.to) == 4 ? 16 : 8;
  with_sources<From...>(step, [&](const auto* upper, const auto*... lower) {
    auto* const to = step.words(0);
    step.for_each([&](int lane) {
      const auto value = [&](std::uint32_t bits, bool is_upper) {
        const bool two_sources = sizeof...(lower) > 0;
        return value_in_pair(
            two_sources ? float_in(bits, f32, c.flushes) : value_of_pair(bits, is_upper, c), c);
      };
      const std::uint32_t last = std::array{upper[lane], lower[lane]...}.back();
      to[lane] = value(upper[lane], true) << shift | value(last, false);
    });
  });
}

/// Decodes cvt to or from two values in a register: two .f32 to .f16x2, .bf16x2, .e4m3x2, .e5m2x2;
/// two 8-bit floats to .f16x2 and back.
void use_pair_conversion(Decoder& d) {
  const Conversion c = conversion_of(d);
  const bool to_fp8 = c.to == e4m3x2 || c.to == e5m2x2;
  d.unsupported_if(to_fp8 != d.has("satfinite") || c.saturates || d.has("rm") || d.has("rp"),
                   "this form");
  if (c.from == f32) {
    d.use(&convert_pair<float, float>, b32, {f32, f32});
  } else {
    d.use(&convert_pair<std::uint32_t>, b32, {b32});
  }
  d.result.set_details(c);
}

/// cvt.pack: the values, saturated, and for bytes c above them.
template <typename T, std::same_as<std::uint32_t>... Above>
std::uint32_t pack(std::int32_t a, std::int32_t b, Above... c) {
  constexpr std::uint32_t kBits = 8 * sizeof(T);
  const auto part = [](std::int32_t value) {
    return static_cast<std::uint32_t>(static_cast<std::make_unsigned_t<T>>(saturated<T>(value)));
  };
  return ((c << 16U) | ... | 0U) | part(a) << kBits | part(b);
}

/// Decodes cvt.pack.sat.
void use_packing_conversion(Decoder& d) {
  d.unsupported_if(!d.has("sat") || d.types().size() < 2 || d.types()[1] != s32, "this form");
  switch (d.types()[0]) {
    case u16:
      return use_function<&pack<std::uint16_t>>(d);
    case s16:
      return use_function<&pack<std::int16_t>>(d);
    case u8:
      return use_function<&pack<std::uint8_t, std::uint32_t>>(d);
    case s8:
      return use_function<&pack<std::int8_t, std::uint32_t>>(d);
    default:
      d.unsupported("this type");
  }
}

/// The type of the register that holds a value. Narrow signed values are sign-extended.
template <typename T>
using InRegister =
    std::conditional_t<std::is_signed_v<T> && sizeof(T) < sizeof(std::int32_t), std::int32_t, T>;

template <typename To>
struct CastTo {
  InRegister<To> operator()(auto a) const { return static_cast<To>(a); }
};

Handler integer_to_integer(const Decoder& d, ScalarType to, ScalarType from) {
  return handler_for<u8, s8, u16, s16, u32, s32, u64, s64>(d, to, [&]<typename To>() {
    return handler_for<u8, s8, u16, s16, u32, s32, u64, s64>(
        d, from, []<typename From>() { return &lane_wise<CastTo<To>{}, InRegister<To>, From>; });
  });
}

float half_to_float(std::uint16_t a) { return canonical(from_half(a)); }

/// The first source goes to the upper half.
template <auto kConvert>
std::uint32_t convert_singles(float a, float b) {
  return static_cast<std::uint32_t>(kConvert(a)) << 16U | kConvert(b);
}

/// Decodes a common form. Returns false if the form has no loop of its own.
bool decode_common(Decoder& d, ScalarType to, ScalarType from) {
  if (d.one_of({"sat", "relu", "satfinite", "rz", "rm", "rp", "rna", "ftz"})) {
    return false;
  }
  if (is_integer(from) && is_integer(to) && (size_of(from) == 8 || !d.is_wide(1))) {
    d.use(integer_to_integer(d, to, from), to, {from});
  } else if (to == f32 && from == f16) {
    use_function<&half_to_float>(d);
  } else if (to == f32 && from == bf16) {
    use_function<&from_bfloat>(d);
  } else if (to == f16 && from == f32) {
    use_function<&to_half>(d);
  } else if (to == bf16 && from == f32) {
    use_function<&to_bfloat>(d);
  } else {
    return false;
  }
  return true;
}

void require_rounding(const Decoder& d, ScalarType to, ScalarType from) {
  const bool narrower = size_of(to) < size_of(from) || to == tf32;
  const bool other_half = (to == f16 && from == bf16) || (to == bf16 && from == f16);
  d.unsupported_if(is_float(to) && (is_integer(from) || narrower || other_half) &&
                       !d.one_of({"rn", "rz", "rm", "rp", "rna"}),
                   "without a rounding");
  d.unsupported_if(is_float(from) && is_integer(to) && !d.one_of({"rni", "rzi", "rmi", "rpi"}),
                   "without a rounding");
}

/// Decodes conversions of two values in a register, such as "f16x2". Of two sources, the first goes
/// to the upper half. Returns false for other types.
bool decode_pair(Decoder& d, ScalarType to, ScalarType from) {
  const bool to_halves = to == f16x2 || to == bf16x2;
  const bool to_fp8 = to == e4m3x2 || to == e5m2x2;
  const bool from_fp8 = from == e4m3x2 || from == e5m2x2;
  if (!(from == f32 && (to_halves || to_fp8)) && !(from == f16x2 && to_fp8) &&
      !(to == f16x2 && from_fp8)) {
    return false;
  }
  if (from == f32 && to_halves && !d.one_of({"rz", "relu", "satfinite", "ftz"}) && d.has("rn")) {
    to == f16x2 ? use_function<&convert_singles<&to_half>>(d)
                : use_function<&convert_singles<&to_bfloat>>(d);
  } else {
    use_pair_conversion(d);
  }
  return true;
}

void decode_cvt(Decoder& d) {
  if (d.has("pack")) {
    return use_packing_conversion(d);
  }
  d.unsupported_if(d.types().size() != 2, "this form");
  const ScalarType to = d.types()[0];
  const ScalarType from = d.types()[1];
  if (decode_pair(d, to, from)) {
    return;
  }
  require_rounding(d, to, from);
  if (!decode_common(d, to, from)) {
    use_conversion(d);
  }
}

}  // namespace

Operations conversion_operations() { return {{"cvt", decode_cvt}}; }

}  // namespace fatune::emulate
