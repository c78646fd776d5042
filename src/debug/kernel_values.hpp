#pragma once

#include <cstdint>
#include <span>

#include "debug/compare.hpp"

namespace fatune {

/// The values that a kernel has written. NaN stays NaN, which includes elements that were never
/// written. shape: output: [seq_len, d_head] elements; dump: S, P, M, L, O one after the other, as
///        kernels/common/attention_dump.h has them; empty for a kernel that shows none
[[nodiscard]] KernelValues read_kernel_values(const HeadProblem& head,
                                              std::span<const std::uint16_t> output,
                                              std::span<const float> dump);

}  // namespace fatune
