#pragma once

#include "attention/head_problem.hpp"
#include "attention/problem.hpp"
#include "core/kernel_arguments.hpp"

namespace fatune {

/// The buffer for the log-sum-exps of kernels that are passed "lse": fp32 (batch, heads, seq_len).
[[nodiscard]] KernelBuffer log_sum_exp_buffer(const Problem& problem);

/// The tensor that dumps are written to.
inline constexpr const char* kDumpTensor = "dump";

/// Extends the arguments to those of a kernel that dumps its intermediates. Standard arguments
/// become an AttentionForwardDumpArgs (kernels/common/attention_dump.h); others get an
/// AttentionDump as a further argument.
void add_dump(const DumpExtents& extents, KernelArguments& arguments);

}  // namespace fatune
