#include "conformance/rows.hpp"

// PTX ISA 9.0, sections 9.7.6 and 9.7.7: comparisons and selections.
namespace fatune::conformance {

std::vector<Group> compare_rows() {
  return {
      {"compare",
       {
           {"setp.<eq|ne|lt|le|gt|ge>.<u16|s16|u32|s32|u64|s64>", "pred", "$2 $2"},
           {"setp.<lo|ls|hi|hs>.<u16|u32|u64>", "pred", "$2 $2"},
           {"setp.<eq|ne>.<b16|b32|b64>", "pred", "$2 $2"},
           {"setp.<eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan>.<f32|f64>", "pred", "$2 $2"},
           {"setp.<eq|lt|neu|geu|nan>.ftz.f32", "pred", "f32 f32"},
           {"selp.<b16|b32|b64|f32|f64>", "$1", "$1 $1 pred"},
       }},
      {"compare_more",
       {
           {"setp.<lt|ne>.<and|or|xor>.<s32|f32|u64> %d0|%d1, %s0, %s1, %s2", "pred pred",
            "$3 $3 pred"},
           {"setp.gt.and.s32 %d0, %s0, %s1, !%s2", "pred", "s32 s32 pred"},
           {"setp.<lt|ge>.f32 %d0|%d1, %s0, %s1", "pred pred", "f32 f32"},
           {"set.<lt|ne|geu|nan>.<u32|s32|f32>.<f32|f64>", "$2", "$3 $3"},
           {"set.<lt|ne|ge>.<u32|s32|f32>.<u16|s16|u32|s32|u64|s64>", "$2", "$3 $3"},
           {"set.lt.ftz.<u32|f32>.f32", "$1", "f32 f32"},
           {"set.le.<and|or|xor>.u32.s32", "u32", "s32 s32 pred"},
           {"slct.<b16|u32|s64|f32|f64>.s32", "$1", "$1 $1 s32"},
           {"slct<|.ftz>.<b32|u64|f32>.f32", "$2", "$2 $2 f32"},
       }},
      {"compare_half",
       {
           {"setp.<eq|ne|lt|ge|equ|neu|ltu|geu|num|nan><|.ftz>.f16", "pred", "f16 f16"},
           {"setp.<eq|ne|lt|ge|equ|neu|ltu|geu|num|nan>.bf16", "pred", "bf16 bf16"},
           {"setp.<lt|neu>.<f16x2|bf16x2> %d0|%d1, %s0, %s1", "pred pred", "$2 $2"},
           {"setp.lt.and.<f16x2|bf16x2> %d0|%d1, %s0, %s1, %s2", "pred pred", "$1 $1 pred"},
           {"set.<lt|neu><|.ftz>.<f16|u16|s16|u32|s32>.f16", "$3", "f16 f16"},
           {"set.<lt|neu>.<bf16|u16|s16|u32|s32>.bf16", "$2", "bf16 bf16"},
           {"set.<lt|neu>.f16x2.f16x2", "f16x2", "f16x2 f16x2"},
           {"set.<lt|neu>.bf16x2.bf16x2", "bf16x2", "bf16x2 bf16x2"},
       }},
  };
}

}  // namespace fatune::conformance
