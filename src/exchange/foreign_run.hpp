#pragma once

#include <string>

#include "exchange/tuning_results.hpp"
#include "plan/family.hpp"
#include "report/report.hpp"

namespace fatune {

/// Facts that another program's file does not contain.
struct ForeignFile {
  std::string origin;  ///< name of the file
  Problem problem;
  DeviceLimits device;  ///< has the name of the GPU
  std::string command_line;
};

/// The run that another program's results come from: one problem, whose settings are configurations
/// of a family. They are ranked by the median of their runtimes, and not verified. Of duplicate
/// settings the first counts. Error(bad_file) if no family has these parameters or knows such a
/// value, if a setting without error has no time, or if the family cannot build it for the problem.
[[nodiscard]] RunReport foreign_run(const TuningResults& results, const ForeignFile& file,
                                    const FamilySet& families);

}  // namespace fatune
