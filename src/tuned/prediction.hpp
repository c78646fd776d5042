#pragma once

#include <optional>
#include <vector>

#include "tuned/leave_one_out.hpp"
#include "tuned/tuned_choice.hpp"

namespace fatune {

/// A tuned problem near the one that is predicted for.
struct Neighbour {
  NearRow near;
  /// The percentage by which the chosen configuration is slower than the winner here; absent:
  /// unknown.
  std::optional<double> regret_percent;
};

/// The likely regret of a choice. An exact choice has its own regret. Any other choice for a
/// problem in the range that was tuned has the regrets of the tuned problems for which the same
/// step made the choice when they were left out in turn. If none is known, those of the next less
/// sure step are used. Outside that range nothing is known.
struct ExpectedRegret {
  std::optional<double> typical_percent;  ///< median; absent: unknown
  std::optional<double> worst_percent;
  std::size_t known = 0;  ///< number of regrets that these were computed from
};

/// The choice for a problem, and how good it is likely to be.
struct Prediction {
  Problem problem;
  TunedChoice choice;
  std::vector<Neighbour> neighbours;  ///< nearest first
  ExpectedRegret regret;
};

/// `left_out`: leave_one_out() of the table.
[[nodiscard]] Prediction predict(const TunedTable& table, const std::vector<LeftOut>& left_out,
                                 const Problem& problem, const DeviceLimits& device,
                                 const WhyNot& why_not);

}  // namespace fatune
