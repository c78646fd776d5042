#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/report.hpp"

namespace fatune {

/// A configuration that was faster than those proposed before it.
struct BestSoFar {
  std::int64_t proposal = 0;  ///< Result::proposal
  double us = 0.0;            ///< its time in the ranking
  std::string config;         ///< short form
  std::string by;             ///< Result::proposed_by
};

/// The configurations of a problem that were faster than all proposed before them, in the order of
/// the proposals. Configurations whose place is not known are left out.
[[nodiscard]] std::vector<BestSoFar> search_course(const ProblemReport& problem);

}  // namespace fatune
