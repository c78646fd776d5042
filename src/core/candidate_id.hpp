#pragma once

#include <compare>
#include <cstddef>

namespace fatune {

/// Names a candidate, which is one configuration on its way through one problem.
struct CandidateId {
  std::size_t index = 0;  ///< its place in the problem's list of candidates

  friend auto operator<=>(const CandidateId&, const CandidateId&) = default;
};

}  // namespace fatune
