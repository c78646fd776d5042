#pragma once

#include <cstddef>
#include <optional>

#include "app/choice/target.hpp"
#include "app/option_groups.hpp"
#include "app/run/result_files.hpp"
#include "app/run/session.hpp"
#include "core/error.hpp"
#include "report/report.hpp"

namespace fatune {

/// The end of a run.
struct RunEnd {
  RunReport report;
  bool complete = false;  ///< false: the user has interrupted it
  std::size_t planned =
      0;                   ///< configurations of the run, those raced for a cover too; 0: not known
  bool resumable = false;  ///< the store has what a later run needs to go on with it
  std::optional<Error> file_error;  ///< why the result files are not what the report is
};

/// Whether a run goes into the store. Of estimates only shards do, to be merged, and only where the
/// store is named, so that the default one has nothing but measurements.
[[nodiscard]] bool is_stored(const StoreOptions& store, const PlannedRun& run, bool measured);

/// Whether outcomes are printed while a run goes on, and the whole run in a last line.
[[nodiscard]] bool prints_outcomes(const OutputOptions& output);

/// Carries a plan out on the target's GPUs, or by estimate, and writes the result files as it goes
/// on. Error(gpu_busy) and Error(too_large) come before anything is measured. Files that cannot be
/// written any more (a full disk) do not end it: see RunEnd::file_error.
[[nodiscard]] RunEnd measure(const MeasureOptions& options, const PlannedRun& run,
                             const Target& target, const ResultFiles& files, CubinCache* cache);

}  // namespace fatune
