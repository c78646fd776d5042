#pragma once

#include <string_view>

#include "emulate/decoder.hpp"

namespace fatune::emulate {

/// The operation of an opcode's first part ("add"); null: not covered.
[[nodiscard]] Operation find_operation(std::string_view name);

// By file: operations_<group>.cpp.
void decode_add(Decoder& d);
void decode_sub(Decoder& d);
void decode_mul(Decoder& d);
void decode_mad(Decoder& d);
void decode_fma(Decoder& d);
void decode_div(Decoder& d);
void decode_rem(Decoder& d);
void decode_min(Decoder& d);
void decode_max(Decoder& d);
void decode_neg(Decoder& d);
void decode_abs(Decoder& d);
void decode_approximation(Decoder& d);

void decode_logic(Decoder& d);
void decode_not(Decoder& d);
void decode_shl(Decoder& d);
void decode_shr(Decoder& d);
void decode_shf(Decoder& d);
void decode_prmt(Decoder& d);
void decode_lop3(Decoder& d);
void decode_bfi(Decoder& d);
void decode_bfe(Decoder& d);
void decode_count_bits(Decoder& d);

void decode_mov(Decoder& d);
void decode_cvt(Decoder& d);
void decode_cvta(Decoder& d);
void decode_selp(Decoder& d);
void decode_setp(Decoder& d);

void decode_ld(Decoder& d);
void decode_st(Decoder& d);
void decode_ldmatrix(Decoder& d);
void decode_stmatrix(Decoder& d);
void decode_cp(Decoder& d);
void decode_prefetch(Decoder& d);

void decode_mma(Decoder& d);

void decode_shfl(Decoder& d);
void decode_vote(Decoder& d);
void decode_activemask(Decoder& d);
void decode_bar(Decoder& d);
void decode_fence(Decoder& d);
void decode_branch(Decoder& d);
void decode_exit(Decoder& d);
void decode_trap(Decoder& d);

}  // namespace fatune::emulate
