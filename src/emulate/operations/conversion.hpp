#pragma once

#include "emulate/decode/decoder.hpp"

// Every conversion between two types, lane by lane: PTX ISA 9.0, section 9.7.9.22.
namespace fatune::emulate {

/// Decodes cvt from one type to another, with any rounding, .sat, .relu and .ftz.
void use_conversion(Decoder& d);
/// Decodes cvt to or from two values in a register: two .f32 to .f16x2, .bf16x2, .e4m3x2, .e5m2x2;
/// two 8-bit floats to .f16x2 and back.
void use_pair_conversion(Decoder& d);
/// Decodes cvt.pack.sat.
void use_packing_conversion(Decoder& d);

}  // namespace fatune::emulate
