#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/five_numbers.hpp"
#include "report/report.hpp"

namespace fatune {

/// How the configurations with one value of a parameter did.
struct ValueStudy {
  std::string value;
  std::size_t results = 0;
  FiveNumbers slower_percent;  ///< than the fastest of their problem (study_rows.hpp)
};

/// What changing a parameter from one value to another does to configurations that are the same but
/// for it.
struct PairStudy {
  std::string from;
  std::string to;
  std::size_t pairs = 0;
  std::size_t faster = 0;      ///< pairs in which `to` is the faster one
  FiveNumbers change_percent;  ///< of the time; negative: `to` is faster
};

struct ParameterStudy {
  std::string parameter;
  std::vector<ValueStudy> values;  ///< in the order of numbers, then of text
  /// Of neighbouring values, then of the others; those that exist. A parameter with more than 16
  /// values has those of neighbouring values alone.
  std::vector<PairStudy> pairs;
  /// The median, over all of `pairs` together, of how much the time changes, either way; 0: there
  /// are none.
  double change_percent = 0.0;
};

/// One for each parameter of which the ranked results have two values at least, the one with the
/// greatest `change_percent` first. Results of different problems, families or runs are never
/// compared. Results that took another's outcome (same_code_as) count as well; of results with the
/// same parameters on one problem, only the first is compared.
[[nodiscard]] std::vector<ParameterStudy> study_parameters(const std::vector<RunReport>& runs);

}  // namespace fatune
