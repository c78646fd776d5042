#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "emit/document/json_text.hpp"
#include "report/verdict.hpp"

// The only form in which verdicts are printed, whichever command gives them (docs/verdicts.md).
namespace fatune {

/// "2 slower, 40 equal": the verdicts that occur, with their counts.
[[nodiscard]] std::string counts_text(std::span<const RivalCheck> checks);
/// "b16 s4096 h16 d128 FP16", and the number of a repetition after the first.
[[nodiscard]] std::string describe_run(const Problem& problem, int run);

/// The columns of a table of checks.
[[nodiscard]] const Fields<RivalCheck>& rival_check_fields();
/// What every JSON object with checks says of them all: "worse" and "counts".
[[nodiscard]] Json verdict_summary_json(const std::vector<RivalCheck>& checks);

}  // namespace fatune
