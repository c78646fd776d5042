#pragma once

#include <span>

#include "attention/head_inputs.hpp"
#include "attention/head_problem.hpp"
#include "debug/step_values.hpp"

namespace fatune {

/// The arithmetic of the algorithm.
enum class Arithmetic {
  float64,
  /// As a kernel with 16-bit inputs rounds: products are exact, sums are fp32 and cut off after
  /// every product (tensor cores cut off too, less often), softmax is fp32, P is rounded to 16
  /// bits before P V, O once at the end.
  /// source: Fasi, Higham, Mikaitis, Pranesh, "Numerical behavior of NVIDIA tensor cores" (2021)
  sixteen_bit,
};

/// The block-wise algorithm, every intermediate kept. Per step, with S the scores of the tile:
///
///   M' = max(M, S), or what `references` says     P = 2^(S - M')     (0 while M' is -infinity)
///   L  = L 2^(M - M') + sum of P                  O = O 2^(M - M') + P V
///
/// shape: references: [kv_tiles, rows], the M of each step; empty: the greatest score so far
[[nodiscard]] StepValues compute_blockwise(const HeadProblem& head, const HeadInputs& inputs,
                                           Arithmetic arithmetic,
                                           std::span<const double> references = {});

}  // namespace fatune
