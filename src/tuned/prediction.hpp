#pragma once

#include <optional>
#include <vector>

#include "tuned/leave_one_out.hpp"
#include "tuned/tuned_choice.hpp"

namespace fatune {

/// A tuned problem beside one that is predicted for.
struct Neighbour {
  NearRow near;
  /// How much slower the chosen configuration is here than the winner; absent: that is unknown.
  std::optional<double> regret_percent;
};

/// The regret that a choice is likely to have. An exact choice has its own, and a default those on
/// the problems that it is the default of. Any other choice has those of the tuned problems for
/// which, left out in turn, the choice was made by the same step; where none is known, by the next
/// less sure one.
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
