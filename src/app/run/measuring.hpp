#pragma once

#include <cstddef>
#include <optional>

#include "app/choice/target.hpp"
#include "app/option_groups.hpp"
#include "app/run/recorder.hpp"
#include "app/run/session.hpp"
#include "core/error.hpp"
#include "engine/measuring_evaluator.hpp"
#include "report/report.hpp"

namespace fatune {

/// The result of a run.
struct RunEnd {
  RunReport report;
  bool complete = false;  ///< false: the user has interrupted it
  std::size_t planned =
      0;                   ///< configurations of the run, including races for a cover; 0: not known
  bool resumable = false;  ///< the store has what a later run needs to resume it
  bool unstored = false;   ///< the store lacks results that it should have
  std::optional<Error> file_error;  ///< why the result files do not match the report
};

/// Whether outcomes are printed during a run, and the whole run as the last line.
[[nodiscard]] bool prints_outcomes(const OutputOptions& output);

/// Carries out a plan on the target's GPUs or by estimate, and updates the result files during the
/// run. Throws Error(gpu_busy) and Error(too_large) before anything is measured. Files that become
/// unwritable (a full disk) do not end the run: see RunEnd::file_error.
[[nodiscard]] RunEnd measure(const MeasureOptions& options, const PlannedRun& run,
                             const Target& target, const ResultFiles& files, CubinCache* cache);

/// Returns the setup of one of the target's GPUs, with what to do while another fatune measures on
/// it. The caller sets the rest.
[[nodiscard]] MeasuringSetup gpu_setup(const Target& target, const TargetGpu& gpu,
                                       const TargetOptions& options, const OutputOptions& output);

}  // namespace fatune
