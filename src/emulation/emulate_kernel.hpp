#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/kernel_code.hpp"
#include "emulate/launch.hpp"
#include "emulation/emulated_inputs.hpp"
#include "emulation/emulated_problem.hpp"
#include "report/emulation.hpp"

namespace fatune {

struct NamedSchedule {
  std::string name;  ///< "late", "random 2": with its seed
  emulate::Schedule schedule;
};

/// "random SEED"
[[nodiscard]] NamedSchedule random_schedule(std::uint64_t seed);

/// How kernels are run on the CPU: every input on every schedule.
struct EmulationSettings {
  std::vector<NamedSchedule> schedules;
  /// The checks (of kEmulationChecks) whose findings count. Findings that end a run always do.
  std::vector<std::string> checks = all_emulation_checks();
  bool profile = false;           ///< counts of the first run
  bool count_rows = false;        ///< say which rows are wrong
  bool count_work = false;        ///< of the first run
  std::function<bool()> stopped;  ///< may be empty; true: end at once
};

/// A compiled kernel and what it is run on. Refers to its parts.
struct EmulationCase {
  const Artifact& artifact;     ///< with its PTX
  const SourceBundle& sources;  ///< lines are named as these files are
  std::string config;           ///< short form
  EmulatedLaunch launch;
};

/// Runs a kernel on every input and schedule, and judges what came out. Whatever is wrong with it,
/// or not covered, is the row's outcome: "right", "wrong_result", "flagged", "not_covered", or
/// "stopped" when `settings.stopped` has ended it. Safe to call from several threads with the same
/// inputs. Nothing: the blocks of `launch` are not those of the head that is compared.
[[nodiscard]] std::optional<EmulatedConfig> emulate_kernel(const EmulationCase& of,
                                                           const EmulationSettings& settings,
                                                           EmulatedInputs& inputs);

/// The work of one run on random inputs, without checks. Nothing when the kernel is not covered,
/// does not finish, or its blocks are not those of the head.
[[nodiscard]] std::optional<CountedWork> count_kernel(const EmulationCase& of,
                                                      const std::function<bool()>& stopped,
                                                      EmulatedInputs& inputs);

}  // namespace fatune
