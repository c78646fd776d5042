#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/config.hpp"
#include "search/candidate_source.hpp"

namespace fatune {

/// The distance between two configurations of a space.
class ParameterDistance {
 public:
  explicit ParameterDistance(const std::vector<SearchPoint>& points);

  /// The sum over the parameters of the distances between the values, each as a fraction of the
  /// parameter's range in the space. Configurations of different families are farther apart than
  /// any two of one family. Precondition: both are in the space.
  [[nodiscard]] double operator()(const Config& a, const Config& b) const;

 private:
  struct Range {
    ParamValue least = 0;
    ParamValue greatest = 0;
  };
  std::map<std::string, std::vector<Range>> ranges_;  ///< by family, for each parameter
};

}  // namespace fatune
