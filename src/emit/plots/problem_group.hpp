#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/report.hpp"

// Groups of problems that differ only in batch and length.
namespace fatune {

/// "h16 d128 BF16 causal": describe() without batch and length.
[[nodiscard]] std::string group_name(const Problem& problem);
/// group_name() without the mask: full and causal problems share a plot.
[[nodiscard]] std::string group_name_without_mask(const Problem& problem);

/// The lengths of all problems, ascending, each once.
[[nodiscard]] std::vector<std::int64_t> lengths_of(const std::vector<RunReport>& runs);
/// The values of `name_of` for all problems, in order of appearance, each once.
[[nodiscard]] std::vector<std::string> groups_of(const std::vector<RunReport>& runs,
                                                 std::string (*name_of)(const Problem&));

/// The first report of that problem in which something is ranked; null if there is none. Cover
/// races do not count.
[[nodiscard]] const ProblemReport* find_ranked(const RunReport& run, const Problem& problem);

}  // namespace fatune
