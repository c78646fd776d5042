#pragma once

#include <string>

#include "unit/emulator/emulated_kernel.hpp"

// Expectations for kernels with one mistake each, and for the same kernels without it.
namespace fatune::emulate {

/// Expects a finding of this kind under every schedule, with `says` in its text. It must be at the
/// line marked with "// here", if there is one. If `alone`, no other kind may be found. Findings of
/// two accesses must name both if the trial keeps both ends.
void expect_found(const std::string& text, const std::string& kind, const std::string& says,
                  Trial trial, bool alone = true);

/// Expects the kernel to finish without findings under every schedule.
void expect_clean(const std::string& text, Trial trial);

}  // namespace fatune::emulate
