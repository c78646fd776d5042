#pragma once

#include <string>

#include "emit/compare_report.hpp"

namespace fatune {

/// JUnit's XML, as test reporters of CI systems read it: a test suite for each problem, a test case
/// for each configuration. Failures are what is_worse(); what is gone, failing, undecided or not to
/// be judged is skipped.
[[nodiscard]] std::string compare_junit(const CompareReport& report);

}  // namespace fatune
