#include "conformance/rows.hpp"

// Loads, stores and atomics on memory that belongs to the thread: PTX ISA 9.0, sections 9.7.9 and
// 9.7.13.
namespace fatune::conformance {

std::vector<Group> memory_rows() {
  return {
      {"memory",
       {
           {"st.<shared|global>.b64 [%$1], %s0;\nld.$1.<u8|s8> %d0, [%$1+3]", "b32", "b64"},
           {"st.<shared|global>.b64 [%$1], %s0;\nld.$1.<u16|s16|b16> %d0, [%$1+2]", "b32", "b64"},
           {"st.<shared|global>.b64 [%$1], %s0;\nld.$1.<u8|s8|u16|s16|u32|s32> %d0, [%$1+4]", "b64",
            "b64"},
           {"st.shared.b64 [%shared], %s0;\nst.shared.<b8|u16|b32> [%shared+4], "
            "%s1;\nld.shared.b64 "
            "%d0, [%shared]",
            "b64", "b64 b32"},
           {"st.<shared|global>.v2.b64 [%$1], {%s0, %s1};\nld.$1.v4.b32 {%d0, %d1, %d2, %d3}, "
            "[%$1]",
            "b32 b32 b32 b32", "b64 b64"},
           {"st.global.v4.<f32|u32> [%global], {%s0, %s1, %s2, %s3};\nld.global.v2.b64 {%d0, %d1}, "
            "[%global]",
            "b64 b64", "$1 $1 $1 $1"},
           {"st.global.v4.b16 [%global], {%s0, %s1, %s2, %s3};\nld.global.v2.u16 {%d0, %d1}, "
            "[%global+4]",
            "b16 b16", "b16 b16 b16 b16"},
           {".local .align 16 .b8 room[16];\nst.local.v2.b32 [room], {%s0, %s1};\nld.local.b64 "
            "%d0, "
            "[room]",
            "b64", "b32 b32"},
           {"ld.global.nc.b32 %d0, [%operands]", "b32", "b32"},
           {"ld.global.<ca|cg|cs|lu|cv>.b32 %d0, [%operands]", "b32", "b32"},
           {"st.global.<wb|cg|cs|wt>.b32 [%global], %s0;\nld.global.b32 %d0, [%global]", "b32",
            "b32"},
           {"st.volatile.<shared|global>.b32 [%$1], %s0;\nld.volatile.$1.b32 %d0, [%$1]", "b32",
            "b32"},
       }},
      {"memory_more",
       {
           {"st.<relaxed|release>.<cta|gpu|sys>.global.b32 [%global], "
            "%s0;\nld.<relaxed|acquire>.$2.global.b32 %d0, [%global]",
            "b32", "b32"},
           {"st.<relaxed|release>.cta.shared.b32 [%shared], "
            "%s0;\nld.<relaxed|acquire>.cta.shared.b32 %d0, [%shared]",
            "b32", "b32"},
           {"st.mmio.relaxed.sys.global.u32 [%global], %s0;\nld.mmio.relaxed.sys.global.u32 %d0, "
            "[%global]",
            "b32", "b32"},
           {"ldu.global.b32 %d0, [%operands]", "b32", "b32"},
           {"ld.global.nc.L1::no_allocate.L2::<64B|128B|256B>.v2.b32 {%d0, %d1}, [%operands]",
            "b32 b32", "b64"},
           {"createpolicy.fractional.L2::<evict_last|evict_first>.b64 %y0, "
            "1.0;\nld.global.L2::cache_hint.b32 %d0, [%operands], %y0;\n"
            "st.global.L2::cache_hint.b32 [%global], %d0, %y0",
            "b32", "b32"},
           {"prefetch.global.L2 [%global];\nprefetchu.L1 [%global];\nmov.b32 %d0, %s0", "b32",
            "b32"},
           {"cvt.u64.u32 %y0, %shared;\ncvta.shared.u64 %y1, %y0;\nisspacep.<shared|global|local> "
            "%d0, %y1",
            "pred", ""},
           {"isspacep.<shared|global|local> %d0, %global", "pred", ""},
           {"FIRST_$1: .branchtargets A_$1, B_$1, C_$1;\nadd.u32 %d0, %s0, 1;\nbrx.idx %s0, "
            "FIRST_$1;\nA_$1: mul.lo.u32 %d0, %d0, 7;\nB_$1: add.u32 %d0, %d0, 100;\nC_<1>: "
            "xor.b32 %d0, %d0, 5",
            "b32", "few"},
       }},
      {"atomic",
       {
           {"st.<shared|global>.b32 [%$1], %s0;\natom.$1.<add|min|max>.<u32|s32> %d0, [%$1], "
            "%s1;\nld.$1.b32 %d1, [%$1]",
            "b32 b32", "b32 b32"},
           {"st.<shared|global>.b32 [%$1], %s0;\natom.$1.<and|or|xor|exch>.b32 %d0, [%$1], "
            "%s1;\nld.$1.b32 %d1, [%$1]",
            "b32 b32", "b32 b32"},
           {"st.<shared|global>.b32 [%$1], %s0;\natom.$1.<inc|dec>.u32 %d0, [%$1], %s1;\nld.$1.b32 "
            "%d1, [%$1]",
            "b32 b32", "few few"},
           {"st.<shared|global>.b32 [%$1], %s0;\natom.$1.cas.b32 %d0, [%$1], %s1, %s2;\nld.$1.b32 "
            "%d1, [%$1]",
            "b32 b32", "few few b32"},
           {"st.<shared|global>.b16 [%$1], %s0;\natom.$1.cas.b16 %d0, [%$1], %s1, %s2;\nld.$1.b16 "
            "%d1, [%$1]",
            "b16 b16", "b16 b16 b16"},
           {"st.<shared|global>.b64 [%$1], %s0;\natom.$1.add.u64 %d0, [%$1], %s1;\nld.$1.b64 %d1, "
            "[%$1]",
            "b64 b64", "b64 b64"},
           {"st.<shared|global>.b64 [%$1], %s0;\natom.$1.<min|max>.<u64|s64> %d0, [%$1], "
            "%s1;\nld.$1.b64 %d1, [%$1]",
            "b64 b64", "b64 b64"},
           {"st.<shared|global>.b64 [%$1], %s0;\natom.$1.<and|or|xor|exch>.b64 %d0, [%$1], "
            "%s1;\nld.$1.b64 %d1, [%$1]",
            "b64 b64", "b64 b64"},
           {"st.<shared|global>.b64 [%$1], %s0;\natom.$1.cas.b64 %d0, [%$1], %s0, %s1;\n"
            "atom.$1.cas.b64 %d1, [%$1], %s0, %s0",
            "b64 b64", "b64 b64"},
           {"st.<shared|global>.b32 [%$1], %s0;\natom.$1.add.f32 %d0, [%$1], %s1;\nld.$1.b32 %d1, "
            "[%$1]",
            "b32 b32", "f32 f32"},
           {"st.<shared|global>.b64 [%$1], %s0;\natom.$1.add.f64 %d0, [%$1], %s1;\nld.$1.b64 %d1, "
            "[%$1]",
            "b64 b64", "f64 f64"},
           {"st.<shared|global>.b32 [%$1], %s0;\natom.$1.add.noftz.<f16x2|bf16x2> %d0, [%$1], "
            "%s1;\nld.$1.b32 %d1, [%$1]",
            "b32 b32", "$2 $2"},
           {"st.<shared|global>.b16 [%$1], %s0;\natom.$1.add.noftz.<f16|bf16> %d0, [%$1], "
            "%s1;\nld.$1.b16 %d1, [%$1]",
            "b16 b16", "$2 $2"},
           {"st.global.v2.b32 [%global], {%s0, %s1};\natom.global.v2.f32.add {%d0, %d1}, "
            "[%global], "
            "{%s2, %s3};\nld.global.v2.b32 {%d2, %d3}, [%global]",
            "b32 b32 b32 b32", "f32 f32 f32 f32"},
           {"st.global.b32 [%global], %s0;\natom.add.u32 %d0, [%global], %s1;\nld.global.b32 %d1, "
            "[%global]",
            "b32 b32", "b32 b32"},
           {"st.global.b32 [%global], %s0;\natom.global.<relaxed|acquire|release|acq_rel>.<cta|gpu|"
            "sys>.add.u32 %d0, [%global], %s1;\nld.global.b32 %d1, [%global]",
            "b32 b32", "b32 b32"},
       }},
      {"reduction",
       {
           {"st.<shared|global>.b32 [%$1], %s0;\nred.$1.<add|min|max>.<u32|s32> [%$1], "
            "%s1;\nld.$1.b32 %d0, [%$1]",
            "b32", "b32 b32"},
           {"st.<shared|global>.b32 [%$1], %s0;\nred.$1.<and|or|xor>.b32 [%$1], %s1;\nld.$1.b32 "
            "%d0, [%$1]",
            "b32", "b32 b32"},
           {"st.<shared|global>.b32 [%$1], %s0;\nred.$1.<inc|dec>.u32 [%$1], %s1;\nld.$1.b32 %d0, "
            "[%$1]",
            "b32", "few few"},
           {"st.<shared|global>.b32 [%$1], %s0;\nred.$1.add.f32 [%$1], %s1;\nld.$1.b32 %d0, [%$1]",
            "b32", "f32 f32"},
           {"st.<shared|global>.b64 [%$1], %s0;\nred.$1.add.<f64|u64> [%$1], %s1;\nld.$1.b64 %d0, "
            "[%$1]",
            "b64", "$2 $2"},
           {"st.<shared|global>.b32 [%$1], %s0;\nred.$1.add.noftz.<f16x2|bf16x2> [%$1], "
            "%s1;\nld.$1.b32 %d0, [%$1]",
            "b32", "$2 $2"},
           {"st.global.v2.b32 [%global], {%s0, %s1};\nred.global.v2.f32.add [%global], {%s2, "
            "%s3};\nld.global.v2.b32 {%d0, %d1}, [%global]",
            "b32 b32", "f32 f32 f32 f32"},
           {"st.global.b32 [%global], %s0;\nred.release.gpu.global.add.u32 [%global], "
            "%s1;\nld.global.b32 %d0, [%global]",
            "b32", "b32 b32"},
       }},
  };
}

}  // namespace fatune::conformance
