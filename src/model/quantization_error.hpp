#pragma once

#include <cstdint>
#include <span>

#include "model/outcome.hpp"
#include "model/problem.hpp"

namespace fatune {

/// How far an output is from exact attention of the inputs before they were rounded to 8 bits: sums
/// over its finite elements, in units of columns.
struct QuantizationSums {
  double squared_error = 0.0;  ///< of (output - exact)^2
  double squared = 0.0;        ///< of exact^2
  double max_abs_error = 0.0;
};

/// Compares an output on the CPU, as kernels/reference/unrounded_attention.cuh does on a GPU.
/// shape: unrounded: the same elements in the same order; dtype: of the output; units:
///        column_units()
[[nodiscard]] QuantizationSums compare_unrounded(std::span<const std::uint16_t> output, DType dtype,
                                                 std::span<const double> unrounded,
                                                 std::span<const double> units = {});

/// Sets the quantization error of `stats`. An exact output of zeros leaves none.
void set_quantization_error(const QuantizationSums& sums, ErrorStats& stats);

}  // namespace fatune
