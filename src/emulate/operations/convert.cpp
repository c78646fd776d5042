#include <cstdint>
#include <type_traits>

#include "emulate/operations/conversion.hpp"
#include "emulate/operations/operations.hpp"
#include "emulate/operations/use_function.hpp"
#include "emulate/values/float_functions.hpp"
#include "emulate/values/half.hpp"

// cvt: PTX ISA 9.0, section 9.7.9.22. This file has the forms that most programs use, as loops over
// lanes. conversion.hpp has all forms.
namespace fatune::emulate {
namespace {

using enum ScalarType;

template <typename To, typename From>
struct IntegerCast {
  To operator()(From a) const { return static_cast<To>(a); }
};

/// The type of the register that holds a value. Narrow signed values are sign-extended.
template <typename T>
using InRegister =
    std::conditional_t<std::is_signed_v<T> && sizeof(T) < sizeof(std::int32_t), std::int32_t, T>;

template <typename To>
Handler from_integer(const Decoder& d, ScalarType from) {
  return handler_for<u8, s8, u16, s16, u32, s32, u64, s64>(d, from, []<typename From>() {
    return &lane_wise<IntegerCast<To, From>, InRegister<To>, From>;
  });
}

float half_to_float(std::uint16_t a) { return canonical(from_half(a)); }

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

/// The handler of a common form. Null: the form has no loop of its own.
Handler common_handler(const Decoder& d, ScalarType to, ScalarType from) {
  if (d.one_of({"sat", "relu", "satfinite", "rz", "rm", "rp", "rna", "ftz"})) {
    return nullptr;
  }
  if (is_integer(from) && is_integer(to) && (size_of(from) == 8 || !d.is_wide(1))) {
    return integer_to_integer(d, to, from);
  }
  if (to == f32 && from == f16) return function_handler<&half_to_float>();
  if (to == f32 && from == bf16) return function_handler<&from_bfloat>();
  if (to == f16 && from == f32) return function_handler<&to_half>();
  if (to == bf16 && from == f32) return function_handler<&to_bfloat>();
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

/// Decodes conversions of two values in a register, such as "f16x2". Of two sources, the first goes
/// to the upper half. Returns false for other types.
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
  if (const Handler handler = common_handler(d, to, from)) {
    return use(d, handler, to, {from});
  }
  use_conversion(d);
}

}  // namespace fatune::emulate
