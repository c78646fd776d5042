#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "attention/problem.hpp"
#include "core/outcome.hpp"

namespace fatune {

/// Compares an output with both references on the CPU, as kernels/reference/check_output.cuh does
/// on a GPU. Values that are not finite are counted and not compared.
/// shape: output, exact and rounded: the same elements in the same order
[[nodiscard]] ErrorStats compare_outputs(const std::string& input, DType dtype,
                                         std::span<const std::uint16_t> output,
                                         std::span<const double> exact,
                                         std::span<const double> rounded);

/// Counts the elements of each row of such an output that are beyond `stats.limit`, and those that
/// mismatch.
/// shape: output, exact and rounded: that of O
[[nodiscard]] RowMismatches compare_rows(const ErrorStats& stats, const Problem& problem,
                                         std::span<const std::uint16_t> output,
                                         std::span<const double> exact,
                                         std::span<const double> rounded);

}  // namespace fatune
