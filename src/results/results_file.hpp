#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "report/report.hpp"

namespace fatune {

/// Reads results.json, best_configs.json or several runs back as the reports that they were written
/// from, one for each run, without loss. The file is read as a stream. Members of later versions
/// are ignored. Error(bad_file) names the file, the place and what would be right.
[[nodiscard]] std::vector<RunReport> read_results(const std::filesystem::path& file);
/// Reads a text likewise. `origin`: its name in messages.
[[nodiscard]] std::vector<RunReport> read_results_text(std::string_view text,
                                                       const std::string& origin);

}  // namespace fatune
