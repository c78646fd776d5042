#pragma once

#include <string>

#include "attention/problem.hpp"

// The names of a run's NVTX ranges, which profilers show (docs/counters.md).
namespace fatune {

/// The range around all measurements of a family's kernels on a problem:
/// "bench_flash_sm80_B16_H16_N4096_D128".
[[nodiscard]] std::string bench_range_name(const std::string& family, const Problem& problem);
/// The range around each launch, with the configuration's short form:
/// "attention_flash_sm90_B16_H16_N4096_D128 (ws, FP16, ...): lazy+...".
[[nodiscard]] std::string attention_range_name(const std::string& family, const Problem& problem,
                                               const std::string& config);

}  // namespace fatune
