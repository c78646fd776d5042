#pragma once

#include <string>

#include "unit/emulate/emulated_kernel.hpp"

// Kernels with one mistake each, and the same ones without it.
namespace fatune::emulate {

/// Expects a finding of that kind at the line marked with "// here", if there is one, whatever the
/// schedule; `says` is in its text. `alone`: no other kind may be found. Findings of two accesses
/// name both when they are asked to.
void expect_found(const std::string& text, const std::string& kind, const std::string& says,
                  Trial trial, bool alone = true);

/// Expects no finding, whatever the schedule, and that the kernel ends.
void expect_clean(const std::string& text, Trial trial);

}  // namespace fatune::emulate
