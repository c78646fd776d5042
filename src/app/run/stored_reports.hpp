#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "report/report.hpp"
#include "report/run_summary.hpp"

namespace fatune {

/// Returns all runs of the store that the option names, the latest first. Returns none if the
/// default file does not exist yet. Throws Error(bad_file) and Error(io) as open_store().
[[nodiscard]] std::vector<RunSummary> stored_runs(const std::optional<std::filesystem::path>& file);

/// Returns a stored run with everything that is known of it. Without a number, returns the latest
/// run. If the run was killed within a problem, that problem is ranked from what was stored. Throws
/// Error(usage) if there is no such run.
[[nodiscard]] RunReport stored_report(const std::optional<std::filesystem::path>& file,
                                      std::optional<std::int64_t> run);

}  // namespace fatune
