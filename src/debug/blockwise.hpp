#pragma once

#include <span>

#include "attention/head_problem.hpp"
#include "attention/input_kind.hpp"
#include "debug/step_values.hpp"

namespace fatune {

/// The arithmetic of the algorithm.
enum class Arithmetic {
  float64,
  /// Rounds like a kernel with 16-bit inputs. Products are exact. Sums are fp32 and truncated after
  /// every product (tensor cores truncate too, less often). Softmax is fp32. P is rounded to 16
  /// bits before P V, and O once at the end.
  /// source: Fasi, Higham, Mikaitis, Pranesh, "Numerical behavior of NVIDIA tensor cores" (2021)
  sixteen_bit,
};

/// Runs the block-wise algorithm and keeps every intermediate. With S the scores of the tile, each
/// step computes:
///
///   M' = max(M, S), or the M of `references`      P = 2^(S - M')     (0 while M' is -infinity)
///   L  = L 2^(M - M') + sum of P                  O = O 2^(M - M') + P V
///
/// shape: references: [kv_tiles, rows], the M of each step; empty: M is the greatest score so far
[[nodiscard]] StepValues compute_blockwise(const HeadProblem& head, const HeadInputs& inputs,
                                           Arithmetic arithmetic,
                                           std::span<const double> references = {});

}  // namespace fatune
