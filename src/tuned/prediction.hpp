#pragma once

#include <optional>
#include <vector>

#include "tuned/leave_one_out.hpp"
#include "tuned/tuned_choice.hpp"

namespace fatune {

/// A tuned problem beside one that is predicted for.
struct Neighbour {
  NearRow near;
  /// Of the chosen configuration on this problem. Absent: its time there is not known.
  std::optional<double> regret_percent;
};

/// Of an exact choice: its own. Of a default: on the problems that it is the default of. Else of
/// the tuned problems that were left out in turn, those whose choice was come to in the same way;
/// where none of their regrets is known, in the next less sure way.
struct ExpectedRegret {
  std::optional<double> typical_percent;  ///< median; of a default geometric mean; absent: unknown
  std::optional<double> worst_percent;
  std::size_t known = 0;  ///< regrets that these are of
};

/// What would be chosen for a problem, and how good that is likely to be.
struct Prediction {
  Problem problem;
  TunedChoice choice;
  std::vector<Neighbour> neighbours;  ///< the nearest first
  ExpectedRegret regret;
};

/// `left_out`: leave_one_out() of the table.
[[nodiscard]] Prediction predict(const TunedTable& table, const std::vector<LeftOut>& left_out,
                                 const Problem& problem, const DeviceLimits& device,
                                 const WhyNot& why_not);

}  // namespace fatune
