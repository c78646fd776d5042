#pragma once

#include <string>

#include "emit/compare_report.hpp"

namespace fatune {

/// JUnit XML for the test reporters of CI systems: a test suite for each problem, a test case for
/// each configuration. A test case fails if is_worse(), and is skipped if the configuration is
/// gone, failing, undecided or not judged.
[[nodiscard]] std::string compare_junit(const CompareReport& report);

}  // namespace fatune
