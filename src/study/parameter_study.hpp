#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/statistics.hpp"
#include "report/report.hpp"

namespace fatune {

/// The results with one value of a parameter.
struct ValueStudy {
  std::string value;
  std::size_t results = 0;
  FiveNumbers slower_percent;  ///< than the fastest of their problem (study_rows.hpp)
};

/// The effect of changing a parameter from one value to another, over pairs of configurations that
/// are equal otherwise.
struct PairStudy {
  std::string from;
  std::string to;
  std::size_t pairs = 0;
  std::size_t faster = 0;      ///< pairs in which `to` is the faster one
  FiveNumbers change_percent;  ///< the change of the time; negative: `to` is faster
};

struct ParameterStudy {
  std::string parameter;
  std::vector<ValueStudy> values;  ///< numbers in their order, then texts
  /// Pairs of neighbouring values, then other pairs, as far as they exist. A parameter with more
  /// than 16 values has only pairs of neighbours.
  std::vector<PairStudy> pairs;
  /// The median change of the time, in either direction, over all of `pairs` together; 0: there are
  /// no pairs.
  double change_percent = 0.0;
};

/// Returns a study for each parameter with at least two values in the ranked results, by descending
/// `change_percent`. Results of different problems, families or runs are never compared. Results
/// that took another's outcome (same_code_as) count as well. Of several results with the same
/// parameters on one problem, only the first is compared.
[[nodiscard]] std::vector<ParameterStudy> study_parameters(const std::vector<RunReport>& runs);

}  // namespace fatune
