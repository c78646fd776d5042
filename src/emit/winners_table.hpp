#pragma once

#include <string>
#include <vector>

#include "emit/document/document.hpp"
#include "emit/document/table.hpp"
#include "emit/result_fields.hpp"

// The result of a run: the winner of each problem, and how sure that is.
namespace fatune {

/// The columns of a table of winners, which has a row for each problem.
[[nodiscard]] Fields<ProblemOfRun> winner_fields();
/// The fields of the configuration that is best for all problems.
[[nodiscard]] Fields<CommonChoice> common_choice_fields();

/// The problems of the run, without cover races.
[[nodiscard]] std::vector<ProblemOfRun> problems_of(const RunReport& run);
/// The member `summary` of results.json.
[[nodiscard]] Json json_summary(const RunReport& run);
/// One sentence on the winners of all problems. Of a single problem, it has all about its winner.
[[nodiscard]] std::string winners_sentence(const RunReport& run);
/// Sentences for people, one for each type and head dimension.
[[nodiscard]] std::vector<std::string> choice_sentences(const RunReport& run);

}  // namespace fatune
