#include <cmath>
#include <cstdint>
#include <limits>

#include "emulate/operations/conversion.hpp"
#include "emulate/operations/operations.hpp"
#include "emulate/operations/use_function.hpp"
#include "emulate/values/float_functions.hpp"
#include "emulate/values/half.hpp"

// cvt: PTX ISA 9.0, section 9.7.9.22. Here are the forms that most programs use, as loops over
// lanes; convert.hpp has all.
namespace fatune::emulate {
namespace {

using enum ScalarType;

template <typename To, typename From>
struct IntegerCast {
  To operator()(From a) const { return static_cast<To>(a); }
};

/// The type of the register that a value is in: a narrow signed one is filled up with its sign.
template <typename T>
using InRegister =
    std::conditional_t<std::is_signed_v<T> && sizeof(T) < sizeof(std::int32_t), std::int32_t, T>;

template <typename To>
Handler from_integer(const Decoder& d, ScalarType from) {
  return handler_for<u8, s8, u16, s16, u32, s32, u64, s64>(d, from, []<typename From>() {
    return &lane_wise<IntegerCast<To, From>, InRegister<To>, From>;
  });
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
/// The .ftz form of a conversion from single precision.
template <typename F>
struct FlushedSource {
  auto operator()(float a) const { return F{}(flush_subnormal(a)); }
};

template <typename Round>
Handler rounded_to_integer(const Decoder& d, ScalarType to) {
  return handler_for<u32, s32, u64, s64>(
      d, to, []<typename To>() { return &lane_wise<FloatToInteger<To, float, Round>, To, float>; });
}

template <typename Round>
Handler float_to_integer(const Decoder& d, ScalarType to) {
  return d.has("ftz") ? rounded_to_integer<FlushedSource<Round>>(d, to)
                      : rounded_to_integer<Round>(d, to);
}

float half_to_float(std::uint16_t a) { return canonical(from_half(a)); }
double single_to_double(float a) { return static_cast<double>(a); }

/// The first source goes to the upper half.
std::uint32_t singles_to_halves(float a, float b) {
  return static_cast<std::uint32_t>(to_half(a)) << 16U | to_half(b);
}
std::uint32_t singles_to_bfloats(float a, float b) {
  return static_cast<std::uint32_t>(to_bfloat(a)) << 16U | to_bfloat(b);
}

Handler integer_to_integer(const Decoder& d, ScalarType to, ScalarType from) {
  return handler_for<u8, s8, u16, s16, u32, s32, u64, s64>(
      d, to, [&]<typename To>() { return from_integer<To>(d, from); });
}

/// Takes the low part of a register that is wider than the type.
template <typename To, typename From>
struct LowPartCast {
  To operator()(std::uint64_t a) const { return static_cast<To>(static_cast<From>(a)); }
};

template <typename To>
Handler from_low_part(const Decoder& d, ScalarType from) {
  return handler_for<u8, s8, u16, s16, u32, s32>(d, from, []<typename From>() {
    return &lane_wise<LowPartCast<To, From>, To, std::uint64_t>;
  });
}

bool is_from_low_part(const Decoder& d, ScalarType from) {
  return is_integer(from) && size_of(from) < 8 && d.is_wide(1) && !d.has("sat");
}

void use_low_part(Decoder& d, ScalarType to, ScalarType from) {
  d.unsupported_if(!is_integer(to) || size_of(to) < 4, "from a register of another width");
  use(d,
      size_of(to) == 8 ? from_low_part<std::int64_t>(d, from)
                       : from_low_part<std::int32_t>(d, from),
      to, {u64});
}

/// Null: no loop of its own.
Handler single_to_integer(const Decoder& d, ScalarType to) {
  if (size_of(to) < 4) return nullptr;
  if (d.has("rzi")) return float_to_integer<TowardsZero>(d, to);
  if (d.has("rni")) return float_to_integer<ToNearest>(d, to);
  return nullptr;
}

Handler common_handler(const Decoder& d, ScalarType to, ScalarType from) {
  if (d.one_of({"sat", "relu", "satfinite", "rz", "rm", "rp", "rna"})) {
    return nullptr;
  }
  if (is_integer(from)) {
    return is_integer(to) ? integer_to_integer(d, to, from)
           : to == f32    ? from_integer<float>(d, from)
           : to == f64    ? from_integer<double>(d, from)
                          : nullptr;
  }
  if (from == f32 && is_integer(to)) return single_to_integer(d, to);
  if (d.has("ftz")) return nullptr;
  if (to == f32 && from == f16) return function_handler<&half_to_float>();
  if (to == f32 && from == bf16) return function_handler<&from_bfloat>();
  if (to == f16 && from == f32) return function_handler<&to_half>();
  if (to == bf16 && from == f32) return function_handler<&to_bfloat>();
  if (to == f64 && from == f32) return function_handler<&single_to_double>();
  return nullptr;
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

/// "f16x2" and the like: two sources, the first one to the upper half.
bool decode_pair(Decoder& d, ScalarType to, ScalarType from) {
  const bool two_sources =
      from == f32 && (to == f16x2 || to == bf16x2 || to == e4m3x2 || to == e5m2x2);
  const bool fp8 = (from == f16x2 && (to == e4m3x2 || to == e5m2x2)) ||
                   (to == f16x2 && (from == e4m3x2 || from == e5m2x2));
  if (!two_sources && !fp8) {
    return false;
  }
  if ((to == f16x2 || to == bf16x2) && two_sources &&
      !d.one_of({"rz", "relu", "satfinite", "ftz"}) && d.has("rn")) {
    to == f16x2 ? use_function<&singles_to_halves>(d) : use_function<&singles_to_bfloats>(d);
    return true;
  }
  use_pair_conversion(d);
  return true;
}

}  // namespace

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
  if (is_from_low_part(d, from)) {
    return use_low_part(d, to, from);
  }
  if (const Handler handler = common_handler(d, to, from)) {
    return use(d, handler, to, {from});
  }
  use_conversion(d);
}

}  // namespace fatune::emulate
