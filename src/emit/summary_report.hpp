#pragma once

#include <string>
#include <vector>

#include "emit/document/json_text.hpp"
#include "emit/document/table.hpp"
#include "report/winners_summary.hpp"

namespace fatune {

/// The columns of a run's summary, which has a row for each problem.
[[nodiscard]] const std::vector<Field<ProblemWinner>>& problem_winner_fields();
/// The fields of the configuration that is best for all problems.
[[nodiscard]] const std::vector<Field<CommonChoice>>& common_choice_fields();

/// The member `summary` of results.json.
[[nodiscard]] Json json_summary(const WinnersSummary& summary);
/// A table for people, with a row for each problem.
[[nodiscard]] Table summary_table(const WinnersSummary& summary);
/// Sentences for people, one for each type and head dimension.
[[nodiscard]] std::vector<std::string> choice_sentences(const WinnersSummary& summary);

}  // namespace fatune
