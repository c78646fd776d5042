#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "emulator/launch.hpp"
#include "model/emulation.hpp"
#include "model/kernel_code.hpp"
#include "proof/emulated_inputs.hpp"

namespace fatune {

struct NamedSchedule {
  std::string name;  ///< "late", "random 2" (with the seed)
  emulate::Schedule schedule;
};

/// Returns the random schedule of a seed, named "random SEED".
[[nodiscard]] NamedSchedule random_schedule(std::uint64_t seed);

/// Settings for running kernels on the CPU. Every input runs on every schedule.
struct EmulationSettings {
  std::vector<NamedSchedule> schedules;
  /// The checks (of kEmulationChecks) whose findings are kept. Findings that end a run are always
  /// kept.
  std::vector<std::string> checks = all_emulation_checks();
  bool profile = false;           ///< keep the counts of the first run
  bool count_rows = false;        ///< report which rows are wrong
  bool count_work = false;        ///< count the work of the first run
  std::function<bool()> stopped;  ///< returns true to end at once; may be empty
};

/// A compiled kernel and the launch to run. Holds references to its parts.
struct EmulationCase {
  const Artifact& artifact;     ///< must have its PTX
  const SourceBundle& sources;  ///< source lines are named after these files
  std::string config;           ///< short form
  EmulatedLaunch launch;
};

/// Runs a kernel on every input and schedule, and judges the results. The row's outcome is "right",
/// "wrong_result", "flagged", "not_covered", or "stopped" if `settings.stopped` ended the runs.
/// Returns nothing if the blocks of the launch are not those of the compared head. Safe to call
/// from several threads with the same inputs.
[[nodiscard]] std::optional<EmulatedConfig> emulate_kernel(const EmulationCase& of,
                                                           const EmulationSettings& settings,
                                                           EmulatedInputs& inputs);

/// Counts the work of one run on random inputs, without checks. Returns nothing if the kernel is
/// not covered, does not finish, or its blocks are not those of the compared head.
[[nodiscard]] std::optional<CountedWork> count_kernel(const EmulationCase& of,
                                                      const std::function<bool()>& stopped,
                                                      EmulatedInputs& inputs);

}  // namespace fatune
