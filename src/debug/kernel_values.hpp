#pragma once

#include <cstdint>
#include <span>

#include "debug/compare.hpp"

namespace fatune {

/// Converts the values that a kernel wrote. NaN stays NaN, including elements that were never
/// written. shape: output: [seq_len, d_head] elements; dump: S, P, M, L, O one after the other, as
///        kernels/common/attention_dump.h lays them out; empty for a kernel that shows none
[[nodiscard]] KernelValues read_kernel_values(const HeadProblem& head,
                                              std::span<const std::uint16_t> output,
                                              std::span<const float> dump);

}  // namespace fatune
