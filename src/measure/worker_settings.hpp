#pragma once

#include <string>
#include <vector>

#include "measure/deadlines.hpp"
#include "process/worker_process.hpp"

namespace fatune {

struct WorkerSettings {
  WorkerCommand command;  ///< this program itself, or a test's
  int device_ordinal = 0;
  DeadlineSettings deadlines;
  bool count_rows = false;  ///< verifications say which rows are wrong
};

/// Settings for a worker that runs this program, or the one that FATUNE_WORKER names, under
/// `launcher` (WorkerCommand) unless that is empty. Deadlines are those of the environment, longer
/// under a launcher. Throws Error(usage) if the environment has an invalid value.
[[nodiscard]] WorkerSettings worker_settings(int device_ordinal,
                                             const std::vector<std::string>& launcher = {});

}  // namespace fatune
