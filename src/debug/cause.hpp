#pragma once

#include <string>

#include "debug/compare.hpp"

namespace fatune {

/// Returns one sentence that names the part of the kernel to look at: what usually makes `first`
/// the first wrong check. It is a guess from the surrounding values, not a proof. Returns nothing
/// if no value hints at a part: the kernel shows only its output. Precondition: first.wrong > 0.
[[nodiscard]] std::string likely_cause(const HeadProblem& head, const HeadInputs& inputs,
                                       const StepValues& kernel, const Comparison& comparison,
                                       const StepCheck& first);

}  // namespace fatune
