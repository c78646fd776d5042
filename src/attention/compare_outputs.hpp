#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "attention/problem.hpp"
#include "core/outcome.hpp"

namespace fatune {

/// How far an output is from both references, on the CPU: what kernels/reference/check_output.cuh
/// finds on a GPU. Values that are not finite are counted, and not compared.
/// shape: output, exact and rounded: the same elements in the same order
[[nodiscard]] ErrorStats compare_outputs(const std::string& input, DType dtype,
                                         std::span<const std::uint16_t> output,
                                         std::span<const double> exact,
                                         std::span<const double> rounded);

/// Which rows of the same are wrong: beyond `stats.limit`, or mismatched.
/// shape: output, exact and rounded: that of O
[[nodiscard]] RowMismatches compare_rows(const ErrorStats& stats, const Problem& problem,
                                         std::span<const std::uint16_t> output,
                                         std::span<const double> exact,
                                         std::span<const double> rounded);

}  // namespace fatune
