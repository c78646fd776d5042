#include "conformance/rows.hpp"

// PTX ISA 9.0, section 9.7.9.22: cvt.
namespace fatune::conformance {

std::vector<Group> convert_rows() {
  return {
      {"convert",
       {
           {"cvt.<u8|s8|u16|s16|u32|s32|u64|s64>.<u8|s8|u16|s16|u32|s32|u64|s64>", "$1", "$2"},
           // The destination register is wider than the type.
           {"mov.b32 %x0, %s0;\ncvt.<u8|s8|u16|s16>.<u32|s32> %d0, %x0", "b32", "$2"},
           {"cvt.rn.<f32|f64>.<u8|s8|u16|s16|u32|s32|u64|s64>", "$1", "$2"},
           {"cvt.<rni|rzi|rmi|rpi>.<s32|u32|s64|u64>.f32", "$2", "f32"},
           {"cvt.rzi.ftz.<s32|u32|s64|u64>.f32", "$1", "f32"},
           {"cvt.rn.<f16|bf16>.f32", "$1", "f32"},
           {"cvt.rn.<f16x2|bf16x2>.f32", "$1", "f32 f32"},
           {"cvt.f32.<f16|bf16>", "f32", "$1"},
           {"cvt<|.ftz>.f64.f32", "f64", "f32"},
           {"cvt.rn<|.ftz>.f32.f64", "f32", "f64"},
           {"cvt.<rni|rzi|rmi|rpi><|.ftz>.f32.f32", "f32", "f32"},
       }},
      {"convert_saturating",
       {
           // Only types where the destination cannot hold every value of the source.
           {"cvt.sat.<u8|s8>.<u16|s16|u32|s32|u64|s64>", "$1", "$2"},
           {"cvt.sat.<u8.s8|s8.u8>", "b16", "b16"},
           {"cvt.sat.u16.<s8|s16|u32|s32|u64|s64>", "u16", "$1"},
           {"cvt.sat.s16.<u16|u32|s32|u64|s64>", "s16", "$1"},
           {"cvt.sat.u32.<s8|s16|s32|u64|s64>", "u32", "$1"},
           {"cvt.sat.s32.<u32|u64|s64>", "s32", "$1"},
           {"cvt.sat.u64.<s8|s16|s32|s64>", "u64", "$1"},
           {"cvt.sat.s64.u64", "s64", "u64"},
           {"cvt.pack.sat.<u16|s16>.s32", "b32", "s32 s32"},
           {"cvt.pack.sat.<u8|s8>.s32.b32", "b32", "s32 s32 b32"},
           {"cvt.sat<|.ftz>.f32.f32", "f32", "f32"},
           {"cvt.sat.f64.f64", "f64", "f64"},
           {"cvt.rn.sat.<f16|f32>.<u32|s32>", "$1", "$2"},
           {"cvt.rn.sat.f16.f32", "f16", "f32"},
           {"cvt.rn.sat.f32.f64", "f32", "f64"},
           {"cvt.sat.f32.f16", "f32", "f16"},
           {"cvt.rzi.sat.<u8|s8|u16|s16|u32|s32|u64|s64>.f32", "$1", "f32"},
       }},
      {"convert_rounding",
       {
           {"cvt.<rz|rm|rp>.f32.<u32|s32|u64|s64>", "f32", "$2"},
           {"cvt.<rz|rm|rp>.f64.<u64|s64>", "f64", "$2"},
           {"cvt.<rn|rz>.f16.<u8|s8|u16|s16|u32|s32|u64|s64>", "f16", "$2"},
           {"cvt.rn.bf16.<u16|s16|u32|s32|u64|s64>", "bf16", "$1"},
           {"cvt.<rni|rzi|rmi|rpi>.<s32|u32|s64|u64>.<f64|f16>", "$2", "$3"},
           {"cvt.<rni|rzi>.<u8|s8|u16|s16>.<f32|f64|f16>", "$2", "$3"},
           {"cvt.<rni|rzi>.<s32|u32|s64|u64>.bf16", "$2", "bf16"},
           {"cvt.rzi.<u16|s16>.bf16", "$1", "bf16"},
           {"cvt.<rz|rm|rp><|.ftz>.f32.f64", "f32", "f64"},
           {"cvt.<rni|rzi|rmi|rpi>.<f64|f16>.$2", "$2", "$2"},
           {"cvt.<rz|rm|rp>.f16.f32", "f16", "f32"},
           {"cvt.<rn|rz>.f16.f64", "f16", "f64"},
           {"cvt.rn.bf16.<f16|f64>", "bf16", "$1"},
           {"cvt.<rz|rm|rp>.bf16.f16", "bf16", "f16"},
           {"cvt.rn.f16.bf16", "f16", "bf16"},
           {"cvt.f64.<f16|bf16>", "f64", "$1"},
           {"cvt.ftz.f32.f16", "f32", "f16"},
           {"cvt.rz.bf16.f32", "bf16", "f32"},
           {"cvt.<rn|rz>.relu.<f16|bf16>.f32", "$2", "f32"},
           {"cvt.rz.<f16x2|bf16x2>.f32", "$1", "f32 f32"},
           {"cvt.<rn|rz>.relu.<f16x2|bf16x2>.f32", "$2", "f32 f32"},
           {"cvt.rna.tf32.f32", "tf32", "f32"},
           {"cvt.<rn|rz><|.relu>.tf32.f32", "tf32", "f32"},
       }},
      {"convert_fp8",
       {
           {"cvt.rn.satfinite<|.relu>.<e4m3x2|e5m2x2>.f32", "$2", "f32 f32"},
           {"cvt.rn.satfinite<|.relu>.<e4m3x2|e5m2x2>.f16x2", "$2", "f16x2"},
           {"cvt.rn<|.relu>.f16x2.<e4m3x2|e5m2x2>", "f16x2", "$2"},
       }},
  };
}

}  // namespace fatune::conformance
