#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "report/report.hpp"
#include "report/run_summary.hpp"

namespace fatune {

/// All runs of the store that the option names, the latest first; none when the default file is
/// not there yet. Error(bad_file) and Error(io) as open_store.
[[nodiscard]] std::vector<RunSummary> stored_runs(const std::optional<std::filesystem::path>& file);

/// A run with everything that was known of it, the latest without a number. A problem within which
/// the run was killed is ranked from what was stored. Error(usage) when there is no such run.
[[nodiscard]] RunReport stored_report(const std::optional<std::filesystem::path>& file,
                                      std::optional<std::int64_t> run);

}  // namespace fatune
