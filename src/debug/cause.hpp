#pragma once

#include <string>

#include "debug/compare.hpp"

namespace fatune {

/// One sentence about what usually makes this check the first that is wrong: the part of the
/// kernel to look at. A guess from the values around it, not a proof. Precondition: wrong > 0.
[[nodiscard]] std::string likely_cause(const HeadProblem& head, const HeadInputs& inputs,
                                       const StepValues& kernel, const Comparison& comparison,
                                       const StepCheck& first);

}  // namespace fatune
