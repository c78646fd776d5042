#pragma once

#include <string_view>
#include <vector>

#include "emulate/decode/decoder.hpp"

namespace fatune::emulate {

/// The handler of what changes nothing that a program could see.
void do_nothing(Execution& x, Warp& warp, const Instruction& instruction, Mask mask);

/// The operation of an opcode's first part ("add"); null: not covered.
[[nodiscard]] Operation find_operation(std::string_view name);

/// The first parts of all opcodes that have an operation, in their order. docs/emulate.md lists
/// them.
[[nodiscard]] std::vector<std::string_view> covered_opcodes();

// By file: operations_<group>.cpp.

// Each of these operations has one function for integers, one for .f32 and .f64, one for 16-bit
// floats.
void decode_integer_add(Decoder& d);
void decode_integer_sub(Decoder& d);
void decode_integer_mul(Decoder& d);
void decode_integer_mad(Decoder& d);
void decode_integer_div(Decoder& d);
void decode_integer_min(Decoder& d);
void decode_integer_max(Decoder& d);
void decode_integer_neg(Decoder& d);
void decode_integer_abs(Decoder& d);
void decode_float_add(Decoder& d);
void decode_float_sub(Decoder& d);
void decode_float_mul(Decoder& d);
void decode_float_fma(Decoder& d);
void decode_float_div(Decoder& d);
void decode_float_min(Decoder& d);
void decode_float_max(Decoder& d);
void decode_float_neg(Decoder& d);
void decode_float_abs(Decoder& d);
void decode_half_add(Decoder& d);
void decode_half_sub(Decoder& d);
void decode_half_mul(Decoder& d);
void decode_half_fma(Decoder& d);
void decode_half_min(Decoder& d);
void decode_half_max(Decoder& d);
void decode_half_neg(Decoder& d);
void decode_half_abs(Decoder& d);
void decode_half_approximation(Decoder& d);

void decode_rem(Decoder& d);
void decode_sad(Decoder& d);
void decode_mul24(Decoder& d);
void decode_mad24(Decoder& d);
void decode_dp4a(Decoder& d);
void decode_dp2a(Decoder& d);
void decode_carry(Decoder& d);

void decode_rcp(Decoder& d);
void decode_sqrt(Decoder& d);
void decode_copysign(Decoder& d);
void decode_testp(Decoder& d);
void decode_approximation(Decoder& d);
void decode_approximate_division(Decoder& d);

void decode_logic(Decoder& d);
void decode_not(Decoder& d);
void decode_cnot(Decoder& d);
void decode_shl(Decoder& d);
void decode_shr(Decoder& d);
void decode_shf(Decoder& d);
void decode_prmt(Decoder& d);
void decode_lop3(Decoder& d);

void decode_bfi(Decoder& d);
void decode_bfe(Decoder& d);
void decode_bfind(Decoder& d);
void decode_bmsk(Decoder& d);
void decode_szext(Decoder& d);
void decode_fns(Decoder& d);
void decode_brev(Decoder& d);
void decode_popc(Decoder& d);
void decode_clz(Decoder& d);

void decode_mov(Decoder& d);
void decode_cvta(Decoder& d);
void decode_isspacep(Decoder& d);

void decode_cvt(Decoder& d);

void decode_selp(Decoder& d);
void decode_slct(Decoder& d);
void decode_setp(Decoder& d);
void decode_set(Decoder& d);

void decode_ld(Decoder& d);
void decode_st(Decoder& d);
void decode_ldmatrix(Decoder& d);
void decode_stmatrix(Decoder& d);
void decode_cp(Decoder& d);
void decode_bulk(Decoder& d);
void decode_mbarrier(Decoder& d);

void decode_mapa(Decoder& d);
void decode_getctarank(Decoder& d);
void decode_cluster_barrier(Decoder& d);
void decode_elect(Decoder& d);
void decode_setmaxnreg(Decoder& d);
void decode_atomic(Decoder& d);
void decode_hint(Decoder& d);
void decode_createpolicy(Decoder& d);
/// A mov of %clock and the like; false: it is none.
[[nodiscard]] bool decode_clock(Decoder& d);

void decode_mma(Decoder& d);
void decode_wgmma(Decoder& d);

void decode_match(Decoder& d);
void decode_redux(Decoder& d);
void decode_movmatrix(Decoder& d);

void decode_brx(Decoder& d);
void decode_call(Decoder& d);

void decode_shfl(Decoder& d);
void decode_vote(Decoder& d);
void decode_activemask(Decoder& d);
void decode_bar(Decoder& d);
void decode_fence(Decoder& d);
void decode_branch(Decoder& d);
void decode_exit(Decoder& d);
void decode_trap(Decoder& d);

}  // namespace fatune::emulate
