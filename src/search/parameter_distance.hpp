#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/config.hpp"
#include "search/candidate_source.hpp"

namespace fatune {

/// How far apart the configurations of a space are.
class ParameterDistance {
 public:
  explicit ParameterDistance(const std::vector<SearchPoint>& points);

  /// The sum, over the parameters, of how far the values are apart, as a part of the range that the
  /// parameter has in the space. Configurations of two families are farther apart than any of one.
  /// Precondition: both are in the space.
  [[nodiscard]] double operator()(const Config& a, const Config& b) const;

 private:
  struct Range {
    ParamValue least = 0;
    ParamValue greatest = 0;
  };
  std::map<std::string, std::vector<Range>> ranges_;  ///< of each family's parameters
};

}  // namespace fatune
