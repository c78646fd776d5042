#pragma once

#include <string>

#include "exchange/tuning_results.hpp"
#include "plan/family_set.hpp"
#include "report/report.hpp"

namespace fatune {

/// What another program's file does not say.
struct ForeignFile {
  std::string origin;  ///< of the file
  Problem problem;
  DeviceLimits device;  ///< with the name of the GPU
  std::string command_line;
};

/// The run that another program's results are of: one problem, whose settings are configurations of
/// a family. They are ranked by the median of their runtimes, and not verified. Of settings that
/// are there several times the first counts. Error(bad_file) when no family has these parameters or
/// knows such a value, when a setting without error has no time, or when the family cannot build it
/// for the problem.
[[nodiscard]] RunReport foreign_run(const TuningResults& results, const ForeignFile& file,
                                    const FamilySet& families);

}  // namespace fatune
