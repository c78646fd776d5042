#pragma once

#include <string>
#include <vector>

#include "data/json_file.hpp"
#include "exchange/tuning_results.hpp"
#include "report/report.hpp"

// Other auto-tuners' files are each of one kernel on one problem. A run of fatune is cut into such
// parts, and put together from them again.
namespace fatune {

/// One kernel family's results on one problem of a run.
struct RunPart {
  RunReport run;     ///< with that problem, of which it has the results of one family alone
  int number = 0;    ///< of the problem among those of the run, from 0
  int problems = 0;  ///< of the run
  int families = 0;  ///< that have results on the problem
};

/// The family of a part's results.
[[nodiscard]] const std::string& family_of(const RunPart& part);

/// Problems without a result have no part.
[[nodiscard]] std::vector<RunPart> parts_of(const RunReport& run);

/// Puts the parts of each run together, in the order of their problems. A run of which a problem or
/// a family is missing is not complete; where a family is missing, the others are ranked anew.
/// Error(bad_file) when a part is there twice.
[[nodiscard]] std::vector<RunReport> join_parts(std::vector<RunPart> parts);

/// All of a part, without loss.
[[nodiscard]] nlohmann::json part_records(const RunPart& part);
/// Reads it back. Error(bad_file), which names the member, when one is missing or of another type.
[[nodiscard]] RunPart read_part(const JsonNode& records);

}  // namespace fatune
