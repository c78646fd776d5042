#pragma once

#include <string>
#include <vector>

#include "measure/deadlines.hpp"
#include "measure/worker_process.hpp"

namespace fatune {

struct WorkerSettings {
  WorkerCommand command;  ///< this program itself, or a test's
  int device_ordinal = 0;
  DeadlineSettings deadlines;
  bool count_rows = false;  ///< verifications say which rows are wrong
};

/// This program, or what FATUNE_WORKER names, behind `launcher` (WorkerCommand) unless that is
/// empty; deadlines as the environment says, longer behind a launcher. Error(usage) when it says
/// nonsense.
[[nodiscard]] WorkerSettings worker_settings(int device_ordinal,
                                             const std::vector<std::string>& launcher = {});

}  // namespace fatune
