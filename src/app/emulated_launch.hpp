#pragma once

#include <cstdint>
#include <vector>

#include "app/emulated_problem.hpp"
#include "core/kernel_code.hpp"
#include "core/problem.hpp"
#include "emulate/launch.hpp"
#include "emulate/program.hpp"

namespace fatune {

struct EmulatedOutput {
  emulate::LaunchResult result;
  std::vector<std::uint16_t> output;  ///< as the kernel left it; NaN where it did not write
  bool inputs_changed = false;        ///< it wrote into Q, K or V
};

/// Runs an attention kernel once. Precondition: its parameters are AttentionForwardArgs.
[[nodiscard]] EmulatedOutput run_emulated(const emulate::Program& program, const Problem& problem,
                                          const LaunchGeometry& geometry,
                                          const EmulatedInput& input, emulate::Schedule schedule,
                                          emulate::Checks checks);

}  // namespace fatune
