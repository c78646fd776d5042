#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "attention/debug_request.hpp"
#include "emulate/launch.hpp"
#include "emulate/memory/module_state.hpp"
#include "emulate/program.hpp"
#include "emulation/emulated_inputs.hpp"
#include "emulation/emulated_problem.hpp"
#include "emulation/further_outputs.hpp"

namespace fatune {

/// Bytes of the workspaces that are never cleared between launches, by name.
using KeptWorkspaces = std::map<std::string, std::vector<std::uint8_t>>;

/// How a kernel is run once.
struct EmulatedRun {
  emulate::Schedule schedule;
  emulate::Checks checks;
  std::function<bool()> stopped;                   ///< may be empty: LaunchSetup::stopped
  std::optional<DumpExtents> dump = std::nullopt;  ///< the kernel shows its intermediates
  emulate::ModuleState state = {};                 ///< empty: as the module is loaded
  KeptWorkspaces kept = {};                        ///< empty: as they are allocated
};

struct EmulatedOutput {
  emulate::LaunchResult result;
  /// The part that is compared, as the kernel left it; NaN where it did not write.
  std::vector<std::uint16_t> output;
  std::vector<FurtherOutput> further;  ///< those that are written beside O
  bool inputs_changed = false;         ///< it wrote into Q, K or V
  /// False: the blocks that were run are not those of the one head that is compared. They wrote
  /// rows of other heads, or left out rows of this one.
  bool blocks_fit = true;
  emulate::ModuleState state;  ///< that it has left
  KeptWorkspaces kept;         ///< as it has left them
  bool kept_changed = false;   ///< they are not as they were allocated
  std::vector<float> dump;     ///< S, P, M, L, O one after the other; NaN where it did not write
};

/// Runs an attention kernel once. shape: inputs (batch, seq_len, heads, d_head). Precondition: it
/// takes the arguments of the launch. Error(bad_file) when they cannot be emulated.
[[nodiscard]] EmulatedOutput run_emulated(const emulate::Program& program,
                                          const EmulatedLaunch& launch, const HeadInputs& inputs,
                                          const EmulatedRun& run);

/// Runs it as above. When there is a race, the kernel runs a second time, so that both accesses are
/// named; `run` records that from then on. Right kernels do not pay for the bookkeeping.
[[nodiscard]] EmulatedOutput run_naming_ends(const emulate::Program& program,
                                             const EmulatedLaunch& launch, const HeadInputs& inputs,
                                             EmulatedRun& run);

}  // namespace fatune
