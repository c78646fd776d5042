#pragma once

#include "attention/problem.hpp"

namespace fatune {

/// What candidates are verified on with adversarial inputs: the same sequence length, head
/// dimension, type, mask and number of heads, so that every tile and every iteration is the
/// problem's, but a single batch: machine code may depend on anything but that (planner.hpp).
[[nodiscard]] Problem probe_problem(const Problem& problem);

}  // namespace fatune
