#pragma once

#include <string>
#include <vector>

#include "app/choice/target.hpp"
#include "app/run/session.hpp"
#include "core/sanitizer.hpp"
#include "emit/check_report.hpp"

namespace fatune {

/// A check under compute-sanitizer.
struct SanitizerCheck {
  std::string program;  ///< compute-sanitizer's path: see sanitizer_program()
  SanitizerTool tool = SanitizerTool::memcheck;
  MeasureOptions options;  ///< of one run of each configuration
};

/// Path of compute-sanitizer. Error(bad_file), with how to get it, when there is none.
[[nodiscard]] std::string sanitizer_program();

/// Runs every configuration of the plan on every problem in a worker of its own under the tool, and
/// adds a row for each: "flagged" when the tool has findings, "not_verified" when it did not come
/// to its end, else how the run ended, "right" for measured. False when the user has interrupted
/// it. Errors as measure(). Leaves `run` as it was.
[[nodiscard]] bool check_under_sanitizer(const SanitizerCheck& check, PlannedRun& run,
                                         const Target& target, CubinCache* cache,
                                         std::vector<CheckedInput>& rows);

}  // namespace fatune
