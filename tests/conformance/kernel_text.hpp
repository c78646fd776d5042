#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "conformance/case.hpp"

namespace fatune::conformance {

inline constexpr std::size_t kThreadsPerBlock = 128;
inline constexpr std::size_t kSlotBytes = 8;  ///< size of an operand or a result in memory

/// PTX for sm_90 with one kernel for each case, "case_0", "case_1" and so on: `(.param .u64 in,
/// .param .u64 out)`, for blocks of kThreadsPerBlock threads in x. Thread t reads its operands from
/// slots t * operands ..., and writes its results to the first slots of its output_stride(one)
/// bytes of `out`.
[[nodiscard]] std::string kernels_text(const std::vector<Case>& cases);
[[nodiscard]] std::string kernel_name(std::size_t index);
/// The bytes of `out` for one thread: its results, and 32 bytes that it works on.
[[nodiscard]] std::size_t output_stride(const Case& one);

}  // namespace fatune::conformance
