#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "attention/problem.hpp"
#include "core/config.hpp"
#include "core/device_limits.hpp"
#include "report/report.hpp"

namespace fatune {

/// One variant of a kernel on one problem.
struct CaseResult {
  std::string variant;
  Problem problem;
  std::size_t candidates = 0;     ///< configurations that were tried
  std::optional<Result> best;     ///< absent: none has a time
  std::string detail;             ///< why it has no time; empty: it has one
  std::vector<NamedValue> shown;  ///< requested parameters and quantities of the best

  // Filled by rank/ranking.hpp.
  std::optional<double> speed_up;  ///< over the first variant on the same problem
  std::optional<double> scaling;   ///< FLOP/s over those of the same variant on its first problem
};

/// The results of `fatune cases`.
struct CasesReport {
  std::string name;  ///< key or file of the cases
  std::string summary;
  std::string family;
  std::string space;
  bool measured = false;  ///< false: every time is an estimate
  bool complete = true;
  DeviceLimits device;
  Toolchain toolchain;
  std::vector<CaseResult> results;  ///< ordered by problem, then by variant
};

}  // namespace fatune
