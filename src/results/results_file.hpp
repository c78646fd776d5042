#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "report/report.hpp"

namespace fatune {

/// Reads an output of fatune (results.json, best_configs.json, or several runs) back as the reports
/// that it was written from, one for each run and GPU. What is kept is what emit's fields and
/// properties show: of verified inputs the tightest one, of a compiler's log the line that says
/// what was wrong; configurations have no `values`. A file of winners has them for the ranking, and
/// no samples. The file is read in a stream, so that 100,000 results take below 400 MB. Members of
/// later versions are skipped. Error(bad_file) names the file and the place, and what would be
/// right; Error(io) when it cannot be read.
[[nodiscard]] std::vector<RunReport> read_results(const std::filesystem::path& file);
/// The same of a text. `origin`: how messages call it.
[[nodiscard]] std::vector<RunReport> read_results_text(std::string_view text,
                                                       const std::string& origin);

}  // namespace fatune
