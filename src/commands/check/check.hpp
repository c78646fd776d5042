#pragma once

#include <string>
#include <vector>

#include "commands/check/check_report.hpp"
#include "engine/choice/kernel_choice.hpp"
#include "engine/session.hpp"
#include "gpu/cubin_cache.hpp"
#include "model/options.hpp"
#include "model/sanitizer.hpp"

namespace fatune {

/// A check under compute-sanitizer.
struct SanitizerCheck {
  std::string program;  ///< compute-sanitizer's path: see sanitizer_program()
  SanitizerTool tool = SanitizerTool::memcheck;
  MeasureOptions options;  ///< they describe one run of each configuration
};

/// Returns the path of compute-sanitizer. Throws Error(bad_file), with how to get it, if there is
/// none.
[[nodiscard]] std::string sanitizer_program();

/// Runs every configuration of the plan on every problem in its own worker under the tool, and adds
/// a row for each: "flagged" if the tool has findings, else the outcome of the run if it failed,
/// else "not_verified" if the tool did not finish, else "right". Returns false if the user has
/// interrupted it. Throws as measure(). Leaves `run` as it was.
[[nodiscard]] bool check_under_sanitizer(const SanitizerCheck& check, PlannedRun& run,
                                         const Target& target, CubinCache* cache,
                                         std::vector<CheckedInput>& rows);

/// Checks the planned configurations without a GPU. Each is emulated on a small problem that
/// represents its own (emulation/small_problem.hpp), with `seeds` seeds that start at the policy's.
/// Adds rows in the order of the plan. Returns false if the user has interrupted it. `cache` may be
/// null.
[[nodiscard]] bool check_by_emulation(const MeasureOptions& options, int seeds,
                                      const PlannedRun& run, const Target& target,
                                      CubinCache* cache, std::vector<CheckedInput>& rows);

}  // namespace fatune
