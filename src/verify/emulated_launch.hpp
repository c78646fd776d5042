#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "emulate/launch.hpp"
#include "emulate/program.hpp"
#include "verify/emulated_inputs.hpp"
#include "verify/emulated_problem.hpp"

namespace fatune {

/// How a kernel is run once.
struct EmulatedRun {
  emulate::Schedule schedule;
  emulate::Checks checks;
  std::function<bool()> stopped;  ///< may be empty: LaunchSetup::stopped
};

struct EmulatedOutput {
  emulate::LaunchResult result;
  /// The part that is compared, as the kernel left it; NaN where it did not write.
  std::vector<std::uint16_t> output;
  bool inputs_changed = false;  ///< it wrote into Q, K or V
  /// False: the blocks that were run are not those of the one head that is compared. They wrote
  /// rows of other heads, or left out rows of this one.
  bool blocks_fit = true;
};

/// Runs an attention kernel once. shape: inputs (batch, seq_len, heads, d_head). Precondition: its
/// parameters are AttentionForwardArgs.
[[nodiscard]] EmulatedOutput run_emulated(const emulate::Program& program,
                                          const EmulatedLaunch& launch, const HeadInputs& inputs,
                                          const EmulatedRun& run);

}  // namespace fatune
