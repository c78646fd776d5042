#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "emulator/launch.hpp"
#include "emulator/program.hpp"
#include "model/emulation.hpp"
#include "model/head_problem.hpp"
#include "model/input_kind.hpp"
#include "proof/emulated_inputs.hpp"

namespace fatune {

/// The bytes of the workspaces that are never cleared between launches, by name.
using KeptWorkspaces = std::map<std::string, std::vector<std::uint8_t>>;

/// Settings for one run of a kernel.
struct EmulatedRun {
  emulate::Schedule schedule;
  emulate::Checks checks;
  std::function<bool()> stopped;                   ///< LaunchSetup::stopped; may be empty
  std::optional<DumpExtents> dump = std::nullopt;  ///< present: the kernel shows intermediates
  emulate::ModuleState state = {};                 ///< before the run; empty: as loaded
  KeptWorkspaces kept = {};                        ///< before the run; empty: as allocated
};

struct EmulatedOutput {
  emulate::LaunchResult result;
  /// The compared part of O, as the kernel left it; NaN where it did not write.
  std::vector<std::uint16_t> output;
  std::vector<FurtherOutput> further;  ///< the outputs other than O
  bool inputs_changed = false;         ///< the kernel changed Q, K, V, lengths of keys or pages
  /// False if the blocks that ran are not those of the single head that is compared: they wrote
  /// rows of other heads, or left out rows of this one.
  bool blocks_fit = true;
  emulate::ModuleState state;  ///< after the run
  KeptWorkspaces kept;         ///< after the run
  bool kept_changed = false;   ///< `kept` differs from the contents at allocation
  std::vector<float> dump;     ///< S, P, M, L, O one after the other; NaN where it did not write
};

/// Runs an attention kernel once. shape: inputs (batch, seq_len, heads, d_head). Precondition: the
/// kernel takes the arguments of the launch. Throws Error(bad_file) if they cannot be emulated, or
/// if the driver would refuse the launch.
[[nodiscard]] EmulatedOutput run_emulated(const emulate::Program& program,
                                          const EmulatedLaunch& launch, const HeadInputs& inputs,
                                          const EmulatedRun& run);

/// Runs a kernel like run_emulated(). If there is a race, the kernel runs a second time with
/// Checks::both_ends, so that findings name both accesses. `run` keeps that setting for later runs.
/// Kernels without a race do not pay for the bookkeeping.
[[nodiscard]] EmulatedOutput run_naming_ends(const emulate::Program& program,
                                             const EmulatedLaunch& launch, const HeadInputs& inputs,
                                             EmulatedRun& run);

/// A kernel to emulate for the `debug` command. Holds references to its parts.
struct EmulatedDebugCase {
  const std::string& config;  ///< short form
  const Artifact& artifact;   ///< must have its PTX
  const SourceBundle& sources;
  EmulatedLaunch launch;  ///< of a problem of batch 1 and one head
  std::optional<DumpExtents> dump;
  const HeadInputs& inputs;
};

/// The result of one run on the CPU.
struct EmulatedDebug {
  DebugRun run;
  bool finished = false;  ///< false: a finding ended the run
  std::vector<EmulatedFinding> findings;
  std::vector<FindingGroup> groups;
};

/// The reason why the kernel was not emulated.
struct NotEmulated {
  std::string why;
};

/// The most queries times keys that are emulated. Time and intermediates grow with them.
inline constexpr std::int64_t kMostEmulatedScores = std::int64_t{2048} * 2048;

/// Runs the kernel once, with asynchronous copies as late as possible, under all checks.
[[nodiscard]] std::variant<EmulatedDebug, NotEmulated> emulate_for_debug(
    const EmulatedDebugCase& of);

}  // namespace fatune
