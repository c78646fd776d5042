#pragma once

#include <string>
#include <vector>

#include "emit/document/json_text.hpp"
#include "emit/document/table.hpp"
#include "report/winners_summary.hpp"

namespace fatune {

/// Columns of a run's summary, a problem each.
[[nodiscard]] const std::vector<Field<ProblemWinner>>& problem_winner_fields();
/// The fields of the one configuration for all problems.
[[nodiscard]] const std::vector<Field<CommonChoice>>& common_choice_fields();

/// The member `summary` of results.json.
[[nodiscard]] Json json_summary(const WinnersSummary& summary);
/// For people: a row for each problem.
[[nodiscard]] Table summary_table(const WinnersSummary& summary);
/// For people: a sentence for each type and head dimension.
[[nodiscard]] std::vector<std::string> choice_sentences(const WinnersSummary& summary);

}  // namespace fatune
