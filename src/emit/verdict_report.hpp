#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "emit/document/document.hpp"
#include "report/report.hpp"
#include "report/verdict.hpp"

// The only form in which verdicts are printed, whichever command gives them (docs/verdicts.md).
namespace fatune {

/// "2 slower, 40 equal": the verdicts that occur, with their counts.
[[nodiscard]] std::string counts_text(std::span<const RivalCheck> checks);
/// "b16 s4096 h16 d128 FP16", and the number of a repetition after the first.
[[nodiscard]] std::string describe_run(const Problem& problem, int run);

/// The columns of a table of checks.
[[nodiscard]] Fields<RivalCheck> rival_check_fields();
/// What every JSON object with checks says of them all: "worse" and "counts".
[[nodiscard]] Json verdict_summary_json(const std::vector<RivalCheck>& checks);

/// Names and values of what holds for all checks, as the devices and the tolerance.
using JunitProperties = std::vector<std::pair<std::string, std::string>>;

/// JUnit XML for the test reporters of CI systems: a test suite for each problem, a test case for
/// each check. A test case fails if is_worse(), and is skipped if the verdict is undecided, gone or
/// failing. `name`: the command.
[[nodiscard]] std::string verdicts_junit(const std::string& name, const JunitProperties& properties,
                                         const std::vector<RivalCheck>& checks);

/// JUnit XML of the verdicts on winners. Precondition: the report has a gate.
[[nodiscard]] std::string gate_junit(const RunReport& report);

}  // namespace fatune
