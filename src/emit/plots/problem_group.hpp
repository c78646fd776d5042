#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/report.hpp"

// Problems that differ in their length alone.
namespace fatune {

/// "h16 d128 BF16 causal": describe() without batch and length.
[[nodiscard]] std::string group_name(const Problem& problem);
/// The same without the mask, under which problems share a plot.
[[nodiscard]] std::string group_name_without_mask(const Problem& problem);

/// The lengths of all problems, ascending, each once.
[[nodiscard]] std::vector<std::int64_t> lengths_of(const std::vector<RunReport>& runs);
/// What `name_of` says of all problems, in the order in which they appear, each once.
[[nodiscard]] std::vector<std::string> groups_of(const std::vector<RunReport>& runs,
                                                 std::string (*name_of)(const Problem&));

/// The report of that problem, the first when there are repetitions; null without one, and when
/// nothing is ranked in it.
[[nodiscard]] const ProblemReport* find_ranked(const RunReport& run, const Problem& problem);

}  // namespace fatune
