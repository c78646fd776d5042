#include "conformance/rows.hpp"

// PTX ISA 9.0, sections 9.7.1 and 9.7.2 (integers, carries) and 9.7.8 (logic, shifts).
namespace fatune::conformance {

std::vector<Group> integer_rows() {
  return {
      {"integer",
       {
           {"<add|sub|min|max>.<u16|s16|u32|s32|u64|s64>", "$2", "$2 $2"},
           {"<add|sub>.sat.s32", "s32", "s32 s32"},
           {"mul.<lo|hi>.<u16|s16|u32|s32|u64|s64>", "$2", "$2 $2"},
           {"mul.wide.<u16|s16|u32|s32>", "wide_$1", "$1 $1"},
           {"mad.<lo|hi>.<u16|s16|u32|s32|u64|s64>", "$2", "$2 $2 $2"},
           {"mad.wide.<u16|s16|u32|s32>", "wide_$1", "$1 $1 wide_$1"},
           {"mad.hi.sat.s32", "s32", "s32 s32 s32"},
           {"<div|rem>.<u16|s16|u32|s32|u64|s64>", "$2", "$2 $2"},
           {"<abs|neg>.<s16|s32|s64>", "$2", "$2"},
       }},
      {"integer_more",
       {
           {"mul24.<lo|hi>.<u32|s32>", "$2", "$2 $2"},
           {"mad24.<lo|hi>.<u32|s32>", "$2", "$2 $2 $2"},
           {"mad24.hi.sat.s32", "s32", "s32 s32 s32"},
           {"sad.<u16|s16|u32|s32|u64|s64>", "$1", "$1 $1 $1"},
           {"<min|max>.relu.s32", "s32", "s32 s32"},
           {"<add|min|max>.<u16x2|s16x2>", "b32", "b32 b32"},
           {"<min|max>.relu.s16x2", "b32", "b32 b32"},
           {"dp4a.<u32|s32>.<u32|s32>", "b32", "b32 b32 b32"},
           {"dp2a.<lo|hi>.<u32|s32>.<u32|s32>", "b32", "b32 b32 b32"},
           {"add.cc.<u32|s32|u64|s64> %d0, %s0, %s1;\naddc.cc.$1 %d1, %s2, %s3;\naddc.$1 %d2, %s0, "
            "%s2",
            "$1 $1 $1", "$1 $1 $1 $1"},
           {"sub.cc.<u32|s32|u64|s64> %d0, %s0, %s1;\nsubc.cc.$1 %d1, %s2, %s3;\nsubc.$1 %d2, %s0, "
            "%s2",
            "$1 $1 $1", "$1 $1 $1 $1"},
           {"mad.lo.cc.<u32|s32|u64|s64> %d0, %s0, %s1, %s2;\nmadc.hi.cc.$1 %d1, %s0, %s1, "
            "%s3;\nmadc.lo.$1 %d2, %s0, %s2, %s3",
            "$1 $1 $1", "$1 $1 $1 $1"},
           {"mad.hi.cc.<u32|s32> %d0, %s0, %s1, %s2;\nmadc.lo.cc.$1 %d1, %s0, %s1, "
            "%s3;\nmadc.hi.$1 "
            "%d2, %s0, %s2, %s3",
            "$1 $1 $1", "$1 $1 $1 $1"},
       }},
      {"bits",
       {
           {"<and|or|xor>.<b16|b32|b64>", "$2", "$2 $2"},
           {"<and|or|xor>.pred", "pred", "pred pred"},
           {"not.<pred|b16|b32|b64>", "$1", "$1"},
           {"shl.<b16|b32|b64>", "$1", "$1 count"},
           {"shr.<b16|b32|b64|u16|u32|u64|s16|s32|s64>", "$1", "$1 count"},
           {"shf.<l|r>.wrap.b32", "b32", "b32 b32 count"},
           {"prmt.b32", "b32", "b32 b32 b32"},
           {"lop3.b32 %d0, %s0, %s1, %s2, <0xe8|0x96|0xca|0x01|0x80|0x3c|0xb1|0|255>", "b32",
            "b32 b32 b32"},
           {"bfe.<u32|s32|u64|s64>", "$1", "$1 count count"},
           {"bfi.<b32|b64>", "$1", "$1 $1 count count"},
           {"<popc|clz>.<b32|b64>", "u32", "$2"},
           {"brev.<b32|b64>", "$1", "$1"},
           {"mov.<b16|b32|b64>", "$1", "$1"},
           {"mov.b32 %d0, {%s0, %s1}", "b32", "b16 b16"},
           {"mov.b64 %d0, {%s0, %s1}", "b64", "b32 b32"},
           {"mov.b64 %d0, {%s0, %s1, %s2, %s3}", "b64", "b16 b16 b16 b16"},
           {"mov.b32 {%d0, %d1}, %s0", "b16 b16", "b32"},
           {"mov.b64 {%d0, %d1}, %s0", "b32 b32", "b64"},
           {"mov.b64 {%d0, %d1, %d2, %d3}, %s0", "b16 b16 b16 b16", "b64"},
       }},
      {"bits_more",
       {
           {"cnot.<b16|b32|b64>", "$1", "$1"},
           {"shf.<l|r>.clamp.b32", "b32", "b32 b32 count"},
           {"prmt.b32.<f4e|b4e|rc8|ecl|ecr|rc16>", "b32", "b32 b32 selector"},
           {"lop3.<or|and>.b32 %d0|%d1, %s0, %s1, %s2, 0x96, %s3", "b32 pred", "few few few pred"},
           {"bfind.<u32|s32|u64|s64>", "u32", "$1"},
           {"bfind.shiftamt.<u32|s32|u64|s64>", "u32", "$1"},
           {"bmsk.<clamp|wrap>.b32", "b32", "count count"},
           {"szext.<clamp|wrap>.<u32|s32>", "$2", "$2 count"},
           {"fns.b32", "b32", "b32 lane few"},
           {"fns.b32 %d0, %s0, %s1, <-1|-3|5>", "b32", "b32 lane"},
       }},
  };
}

}  // namespace fatune::conformance
