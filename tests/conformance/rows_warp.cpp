#include "conformance/rows.hpp"

// Operations across the lanes of a warp: PTX ISA 9.0, sections 9.7.9.6, 9.7.13 and 9.7.14
// (matrices).
namespace fatune::conformance {

std::vector<Group> warp_rows() {
  return {
      {"warp",
       {
           {"shfl.sync.<up|down|bfly|idx>.b32 %d0|%d1, %s0, %s1, %s2, -1", "b32 pred",
            "b32 lane clamp"},
           {"shfl.sync.<up|down|bfly|idx>.b32 %d0, %s0, 3, 0x1f, -1", "b32", "b32"},
           {"vote.sync.<any|all|uni>.pred %d0, %s0, -1", "pred", "pred"},
           {"vote.sync.ballot.b32 %d0, %s0, -1", "b32", "pred"},
           {"vote.sync.ballot.b32 %d0, !%s0, -1", "b32", "pred"},
           // Pairs of neighbouring lanes.
           {"and.b32 %x0, %i, 30;\nshl.b32 %x1, 3, %x0;\nvote.sync.<any|all|uni>.pred %d0, %s0, "
            "%x1",
            "pred", "pred"},
           {"activemask.b32", "b32", ""},
       }},
      {"warp_more",
       {
           {"match.any.sync.b32 %d0, %s0, -1", "b32", "few"},
           {"cvt.u64.u32 %y0, %s0;\nmatch.any.sync.b64 %d0, %y0, -1", "b32", "few"},
           {"match.all.sync.b32 %d0|%d1, %s0, -1", "b32 pred", "few"},
           {"shr.u32 %x0, %i, 5;\nmatch.all.sync.b32 %d0|%d1, %x0, -1", "b32 pred", ""},
           {"shr.u32 %x0, %i, 5;\ncvt.u64.u32 %y0, %x0;\nmatch.all.sync.b64 %d0|%d1, %y0, -1",
            "b32 pred", ""},
           {"redux.sync.<add|min|max>.<u32|s32> %d0, %s0, -1", "$2", "$2"},
           {"redux.sync.<and|or|xor>.b32 %d0, %s0, -1", "b32", "b32"},
           {"mov.b32 %x0, %s0;\nredux.sync.<and|or>.b32 %d0, %x0, -1", "b32", "few"},
       }},
      {"matrix_moves",
       {
           {"st.shared.v4.b32 [%shared], {%s0, %s1, %s2, %s3};\nbar.warp.sync "
            "-1;\nldmatrix.sync.aligned.m8n8.x1<|.trans>.shared.b16 {%d0}, [%shared]",
            "b32", "b32 b32 b32 b32"},
           {"st.shared.v4.b32 [%shared], {%s0, %s1, %s2, %s3};\nbar.warp.sync "
            "-1;\nldmatrix.sync.aligned.m8n8.x2<|.trans>.shared.b16 {%d0, %d1}, [%shared]",
            "b32 b32", "b32 b32 b32 b32"},
           {"st.shared.v4.b32 [%shared], {%s0, %s1, %s2, %s3};\nbar.warp.sync "
            "-1;\nldmatrix.sync.aligned.m8n8.x4<|.trans>.shared.b16 {%d0, %d1, %d2, %d3}, "
            "[%shared]",
            "b32 b32 b32 b32", "b32 b32 b32 b32"},
           {"st.shared.v4.b32 [%shared], {%s0, %s0, %s0, %s0};\nbar.warp.sync "
            "-1;\nstmatrix.sync.aligned.m8n8.x1<|.trans>.shared.b16 [%shared], {%s1};\n"
            "bar.warp.sync -1;\nld.shared.v4.b32 {%d0, %d1, %d2, %d3}, [%shared]",
            "b32 b32 b32 b32", "b32 b32"},
           {"st.shared.v4.b32 [%shared], {%s0, %s0, %s0, %s0};\nbar.warp.sync "
            "-1;\nstmatrix.sync.aligned.m8n8.x4<|.trans>.shared.b16 [%shared], {%s1, %s2, %s3, "
            "%s4};\nbar.warp.sync -1;\nld.shared.v4.b32 {%d0, %d1, %d2, %d3}, [%shared]",
            "b32 b32 b32 b32", "b32 b32 b32 b32 b32"},
       }},
      {"matrix_moves_more", {{"movmatrix.sync.aligned.m8n8.trans.b16", "b32", "b32"}}},
      {"matrix_product",
       {
           {"mma.sync.aligned.m16n8k16.row.col.f32.<f16|bf16>.$1.f32 {%d0, %d1, %d2, %d3}, "
            "{%s0, %s1, %s2, %s3}, {%s4, %s5}, {%s6, %s7, %s8, %s9}",
            "f32 f32 f32 f32",
            "near_$1x2 near_$1x2 near_$1x2 near_$1x2 near_$1x2 near_$1x2 near_f32 near_f32 "
            "near_f32 near_f32"},
           // Numbers of any size, and a few infinities.
           {"mov.b32 %x0, %s0;\nmma.sync.aligned.m16n8k16.row.col.f32.<f16|bf16>.$1.f32 {%d0, %d1, "
            "%d2, %d3}, "
            "{%x0, %s1, %s2, %s3}, {%s4, %s5}, {%s6, %s7, %s8, %s9}",
            "f32 f32 f32 f32",
            "finite_$1x2 finite_$1x2 finite_$1x2 finite_$1x2 finite_$1x2 finite_$1x2 finite_f32 "
            "finite_f32 finite_f32 finite_f32"},
       }},
      {"matrix_product_more",
       {
           {"mma.sync.aligned.m16n8k8.row.col.f32.<f16|bf16>.$1.f32 {%d0, %d1, %d2, %d3}, "
            "{%s0, %s1}, {%s2}, {%s3, %s4, %s5, %s6}",
            "f32 f32 f32 f32", "near_$1x2 near_$1x2 near_$1x2 near_f32 near_f32 near_f32 near_f32"},
           {"mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%d0, %d1}, "
            "{%s0, %s1, %s2, %s3}, {%s4, %s5}, {%s6, %s7}",
            "f16x2 f16x2",
            "near_f16x2 near_f16x2 near_f16x2 near_f16x2 near_f16x2 near_f16x2 near_f16x2 "
            "near_f16x2"},
           {"mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%d0, %d1}, "
            "{%s0, %s1}, {%s2}, {%s3, %s4}",
            "f16x2 f16x2", "near_f16x2 near_f16x2 near_f16x2 near_f16x2 near_f16x2"},
           {"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%d0, %d1, %d2, %d3}, "
            "{%s0, %s1, %s2, %s3}, {%s4, %s5}, {%s6, %s7, %s8, %s9}",
            "f32 f32 f32 f32",
            "near_tf32 near_tf32 near_tf32 near_tf32 near_tf32 near_tf32 near_f32 near_f32 "
            "near_f32 near_f32"},
           {"mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32 {%d0, %d1, %d2, %d3}, "
            "{%s0, %s1}, {%s2}, {%s3, %s4, %s5, %s6}",
            "f32 f32 f32 f32", "near_tf32 near_tf32 near_tf32 near_f32 near_f32 near_f32 near_f32"},
           {"mma.sync.aligned.m16n8k32.row.col<|.satfinite>.s32.<s8|u8>.$2.s32 {%d0, %d1, %d2, "
            "%d3}, {%s0, %s1, %s2, %s3}, {%s4, %s5}, {%s6, %s7, %s8, %s9}",
            "s32 s32 s32 s32", "b32 b32 b32 b32 b32 b32 s32 s32 s32 s32"},
           {"mma.sync.aligned.m16n8k16.row.col.s32.<s8|u8>.$1.s32 {%d0, %d1, %d2, %d3}, "
            "{%s0, %s1}, {%s2}, {%s3, %s4, %s5, %s6}",
            "s32 s32 s32 s32", "b32 b32 b32 s32 s32 s32 s32"},
       }},
      {"matrix_product_of_8_bits",
       {
           // Operands of random bits: many sums are NaN.
           {"mma.sync.aligned.m16n8k32.row.col.f32.<e4m3|e5m2>.<e4m3|e5m2>.f32 {%d0, %d1, %d2, "
            "%d3}, {%s0, %s1, %s2, %s3}, {%s4, %s5}, {%s6, %s7, %s8, %s9}",
            "f32 f32 f32 f32", "b32 b32 b32 b32 b32 b32 near_f32 near_f32 near_f32 near_f32"},
           {"mma.sync.aligned.m16n8k16.row.col.f16.<e4m3|e5m2>.<e4m3|e5m2>.f16 {%d0, %d1}, "
            "{%s0, %s1}, {%s2}, {%s3, %s4}",
            "f16x2 f16x2", "b32 b32 b32 near_f16x2 near_f16x2"},
       }},
  };
}

}  // namespace fatune::conformance
