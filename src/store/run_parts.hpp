#pragma once

#include <string>
#include <vector>

#include "base/json_file.hpp"
#include "model/report.hpp"
#include "plan/family.hpp"
#include "store/tuning_file.hpp"

// Files of other auto-tuners hold one kernel on one problem. A run of fatune is split into such
// parts, and joined from them again.
namespace fatune {

/// One kernel family's results on one problem of a run.
struct RunPart {
  RunReport run;  ///< has only that problem, with the results of all families
  std::string family;
  int number = 0;    ///< index of the problem among those of the run, from 0
  int problems = 0;  ///< number of problems of the run
};

/// Splits a run. Problems without a result have no part.
[[nodiscard]] std::vector<RunPart> parts_of(const RunReport& run);

/// Joins the parts of each run, in the order of their problems. A run with a missing problem
/// is not complete. Error(bad_file) if a part occurs twice.
[[nodiscard]] std::vector<RunReport> join_parts(std::vector<RunPart> parts);

/// All of a part, without loss. Its run is the text of its record, because readers of JSON may
/// change the order of members, which is that of the parameters.
[[nodiscard]] nlohmann::json part_records(const RunPart& part);
/// Reads part_records() back. Error(bad_file) names a member that is missing or of another type.
[[nodiscard]] RunPart read_part(const JsonNode& records);

/// Converts a part of a run to other tuners' form, with its records. The kernel has its family's
/// name. The problem size is queries, heads and batch.
[[nodiscard]] TuningResults tuning_results(const RunPart& part);

/// Error(bad_file) unless the file's settings are those of its records: otherwise, one of the two
/// was changed. `origin`: of the file.
void check_settings(const TuningResults& file, const RunPart& records, const std::string& origin);

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
