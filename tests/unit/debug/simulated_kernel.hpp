#pragma once

#include "attention/head_inputs.hpp"
#include "attention/head_problem.hpp"
#include "debug/compare.hpp"

namespace fatune::fixtures {

/// The possible mistakes of the simulated kernel.
enum class Fault {
  none,
  mask_off_by_one,    ///< a causal query sees the key after its own
  no_rescale,         ///< neither O nor L follows M
  no_output_rescale,  ///< O does not, L does
  swapped_v,          ///< the two halves of each tile of V stand in each other's place
  no_exponent_base,   ///< P of the last step is relative to 0
  m_too_high,         ///< M exceeds every score
  left_out_step,      ///< step 1 is not taken
  no_division,        ///< O is stored without the division by L
};

/// A kernel as a GPU has them, in plain C++: fp32, sums in blocks of sixteen products, M follows
/// its row's maximum only when that exceeds it by the head's slack. Written apart from
/// compute_blockwise, so that it errs in its own way.
[[nodiscard]] KernelValues simulate_kernel(const HeadProblem& head, const HeadInputs& inputs,
                                           Fault fault = Fault::none);

}  // namespace fatune::fixtures
