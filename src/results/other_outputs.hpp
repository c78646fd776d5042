#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "data/json_file.hpp"
#include "study/study_rows.hpp"

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

}  // namespace fatune
