#pragma once

#include <cstdint>

#include "emulate/decode/decoder.hpp"

namespace fatune::emulate {

/// Operations with forms that are rounded otherwise than to nearest, or saturated.
enum class FloatOperation : std::uint8_t { add, sub, mul, fma, div, rcp, sqrt };

/// Their handler. The instruction's variant: rounded_variant.
[[nodiscard]] Handler rounded_handler(FloatOperation operation, bool is_double);
/// .rn, .rz, .rm, .rp; .ftz; .sat, as one number.
[[nodiscard]] std::uint32_t rounded_variant(const Decoder& d);

}  // namespace fatune::emulate
