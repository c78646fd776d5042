#pragma once

#include "attention/debug_request.hpp"
#include "attention/problem.hpp"
#include "core/kernel_arguments.hpp"

namespace fatune {

/// The one argument of an attention_forward kernel: kernels/common/attention_args.h, and behind it
/// what the problem has besides. With log-sum-exps, a buffer for them.
[[nodiscard]] KernelArguments attention_forward_arguments(const Problem& problem);

/// The buffer to which kernels that are passed "lse" write it: fp32 (batch, heads, seq_len).
[[nodiscard]] KernelBuffer log_sum_exp_buffer(const Problem& problem);

/// The tensor that dumps are written to.
inline constexpr const char* kDumpTensor = "dump";

/// Makes the arguments those of a kernel that shows its intermediates: standard ones become an
/// AttentionForwardDumpArgs (kernels/common/attention_dump.h); others get an AttentionDump behind
/// them.
void add_dump(const DumpExtents& extents, KernelArguments& arguments);

}  // namespace fatune
