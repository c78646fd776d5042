#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_file.hpp"
#include "model/report.hpp"
#include "race/study_rows.hpp"

namespace fatune {

/// Reads the measurements of scripts/compare_peers. A peer without a time is left out.
/// Error(bad_file) if the document does not follow its schema.
[[nodiscard]] PeerStudy read_peers(const JsonNode& document);

/// Reads the correlations of `fatune sass why`, one study for each problem. Error(bad_file)
/// likewise.
[[nodiscard]] std::vector<CodeStudy> read_code_studies(const JsonNode& document);

/// The member "format" of a JSON file's outermost object, such as "fatune.results". The file is
/// read no further than that. Empty if there is no such member, or the file is not JSON.
/// Error(bad_file) if it cannot be read.
[[nodiscard]] std::string output_format_of(const std::filesystem::path& file);

/// Reads results.json, best_configs.json or several runs back as the reports that they were written
/// from, one for each run, without loss. The file is read as a stream. Members of later versions
/// are ignored. Error(bad_file) names the file, the place and what would be right.
[[nodiscard]] std::vector<RunReport> read_results(const std::filesystem::path& file);
/// Reads a text likewise. `origin`: its name in messages.
[[nodiscard]] std::vector<RunReport> read_results_text(std::string_view text,
                                                       const std::string& origin);

}  // namespace fatune
