#pragma once

#include <vector>

#include "data/json_file.hpp"
#include "study/others.hpp"

namespace fatune {

/// Reads the measurements of scripts/compare_peers. A peer without a time is left out.
/// Error(bad_file) if the document does not follow its schema.
[[nodiscard]] PeerStudy read_peers(const JsonNode& document);

/// Reads the correlations of `fatune sass why`, one study for each problem. Error(bad_file)
/// likewise.
[[nodiscard]] std::vector<CodeStudy> read_code_studies(const JsonNode& document);

}  // namespace fatune
