#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "app/choice/target.hpp"
#include "app/profile/ncu_reader.hpp"
#include "app/profile/profile_cases.hpp"
#include "app/profile/profile_options.hpp"
#include "emit/list_reports.hpp"
#include "emit/profile_report.hpp"

namespace fatune {

/// Compiles, verifies and counts the planned configurations, problem by problem, on the target's
/// first GPU. `ncu` reads the counters; absent: CUPTI does. The raw reports are in `reports`.
/// Throws as CountingSession and count_with_ncu().
[[nodiscard]] ProfileReport run_profile(const ProfileOptions& options, const ProfilePlan& plan,
                                        const Target& target, const std::optional<Ncu>& ncu,
                                        const std::filesystem::path& reports);

/// Records a timeline of the planned configurations with Nsight Systems, with a report for each
/// problem in `reports`. Returns what is in the reports. Throws Error(bad_file) if nsys is missing
/// or fails.
[[nodiscard]] TimelineReport run_timeline(const ProfileOptions& options, const ProfilePlan& plan,
                                          const Target& target,
                                          const std::filesystem::path& reports);

/// Sets relative_percent of every row, relative to its problem's baseline, else to the fastest.
void compare_durations(const std::optional<std::string>& baseline, ProfileReport& report);

}  // namespace fatune
