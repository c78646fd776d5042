#pragma once

#include "model/head_problem.hpp"
#include "model/input_kind.hpp"
#include "proof/compare_steps.hpp"

namespace fatune::fixtures {

/// The possible mistakes of the simulated kernel.
enum class Fault {
  none,
  mask_off_by_one,    ///< a causal query sees the key after its own
  no_rescale,         ///< neither O nor L is rescaled when M rises
  no_output_rescale,  ///< L is rescaled, O is not
  swapped_v,          ///< the two halves of each tile of V are swapped
  no_exponent_base,   ///< P of the last step is relative to 0
  m_too_high,         ///< M exceeds every score
  left_out_step,      ///< step 1 is skipped
  left_out_part,      ///< part 1 is not added to the others
  parts_added_alike,  ///< parts are added as if they had the same M
  no_division,        ///< O is stored without the division by L
};

/// Simulates a GPU kernel in plain C++: fp32 arithmetic, and sums in blocks of sixteen products. M
/// follows its row's maximum only when the maximum exceeds M by more than the head's slack. The
/// code is independent of compute_blockwise, so that the two do not share errors.
[[nodiscard]] KernelValues simulate_kernel(const HeadProblem& head, const HeadInputs& inputs,
                                           Fault fault = Fault::none);

}  // namespace fatune::fixtures
