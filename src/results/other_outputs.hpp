#pragma once

#include <vector>

#include "data/json_file.hpp"
#include "study/others.hpp"

namespace fatune {

/// What scripts/compare_peers measured. A peer without a time is left out. Error(bad_file) when the
/// document is not as its schema says.
[[nodiscard]] PeerStudy read_peers(const JsonNode& document);

/// The correlations of `fatune sass why`, one for each problem. Error(bad_file) likewise.
[[nodiscard]] std::vector<CodeStudy> read_code_studies(const JsonNode& document);

}  // namespace fatune
