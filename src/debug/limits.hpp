#pragma once

#include <cstdint>
#include <vector>

#include "attention/head_problem.hpp"
#include "attention/input_kind.hpp"
#include "debug/step_values.hpp"

namespace fatune {

/// The limits for the differences between a kernel's intermediates and the float64 ones.
/// docs/debug.md has the derivation.
///
/// Each tensor, block and step has a limit. It is twice the greatest error of the emulated 16-bit
/// algorithm (as attention/error_rule.hpp has it for O), plus an allowance for sums that the kernel
/// forms in another order than the emulation. limits.cpp explains each allowance. All values are
/// relative to the same M.
class StepLimits {
 public:
  /// `head`, `float64` and `sixteen_bit` must outlive this object.
  StepLimits(const HeadProblem& head, const HeadInputs& inputs, const StepValues& float64,
             const StepValues& sixteen_bit);

  /// Returns the limit of a tensor in a step. `step` is ignored for the output.
  [[nodiscard]] double limit(StepTensor tensor, std::int64_t q_block, std::int64_t step) const;
  /// Returns the greatest error of the emulated 16-bit algorithm in this tensor, block and step.
  [[nodiscard]] double emulated_error(StepTensor tensor, std::int64_t q_block,
                                      std::int64_t step) const;

 private:
  [[nodiscard]] double score_limit(std::int64_t q_block, std::int64_t step) const;
  [[nodiscard]] double reference_limit(std::int64_t q_block, std::int64_t step) const;
  [[nodiscard]] double exponential_error(std::int64_t q_block, std::int64_t step) const;
  [[nodiscard]] double sum_error(std::int64_t q_block, std::int64_t step) const;
  [[nodiscard]] double greatest(StepTensor tensor, std::int64_t q_block, std::int64_t step) const;
  [[nodiscard]] double twice_error(StepTensor tensor, std::int64_t q_block,
                                   std::int64_t step) const {
    return 2 * emulated_error(tensor, q_block, step);
  }

  const HeadProblem& head_;
  const StepValues& float64_;
  const StepValues& sixteen_bit_;
  std::vector<double> q_norms_, k_norms_;  // Euclidean norm of each row
  double greatest_v_ = 0.0;
};

}  // namespace fatune
