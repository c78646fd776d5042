#pragma once

#include <string>
#include <utility>
#include <vector>

#include "report/report.hpp"

namespace fatune {

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
