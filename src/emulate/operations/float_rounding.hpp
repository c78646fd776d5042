#pragma once

#include <cstdint>

#include "emulate/decode/decoder.hpp"
#include "emulate/values/rounding.hpp"

namespace fatune::emulate {

/// Operations with forms that are rounded otherwise than to nearest, or saturated.
enum class FloatOperation : std::uint8_t { add, sub, mul, fma, div, rcp, sqrt };

/// The details of such an instruction.
struct RoundedForm {
  Rounding rounding = Rounding::nearest;
  bool flushes = false;
  bool saturates = false;
};

/// Their handler. The instruction's details are a RoundedForm.
[[nodiscard]] Handler rounded_handler(FloatOperation operation, bool is_double);
/// By .rn, .rz, .rm, .rp; .ftz; .sat.
[[nodiscard]] RoundedForm rounded_form(const Decoder& d);

}  // namespace fatune::emulate
