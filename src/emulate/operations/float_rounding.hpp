#pragma once

#include <cstdint>

#include "emulate/decode/decoder.hpp"
#include "emulate/values/rounding.hpp"

namespace fatune::emulate {

/// Operations with forms that do not round to nearest, or that saturate.
enum class FloatOperation : std::uint8_t { add, sub, mul, fma, div, rcp, sqrt };

/// The details of an instruction of such a form.
struct RoundedForm {
  Rounding rounding = Rounding::nearest;
  bool flushes = false;
  bool saturates = false;
};

/// The handler of such a form. The instruction's details are a RoundedForm.
[[nodiscard]] Handler rounded_handler(FloatOperation operation, bool is_double);
/// The form that .rn, .rz, .rm or .rp, .ftz and .sat select.
[[nodiscard]] RoundedForm rounded_form(const Decoder& d);

}  // namespace fatune::emulate
