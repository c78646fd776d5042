#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "tuned/tuned_choice.hpp"
#include "tuned/tuned_table.hpp"

namespace fatune {

/// The choice for a tuned problem if it had not been tuned.
struct LeftOut {
  std::size_t row = 0;   ///< index of TunedTable::problems
  TunedChoice choice{};  ///< its indices are those of the table without the row
  bool is_winner = false;
  bool ties_with_winner = false;  ///< it cannot be told apart from the winner, or is it
  /// The percentage by which it is slower than the winner. Absent: its time on this problem is not
  /// known.
  std::optional<double> regret_percent{};
};
[[nodiscard]] std::vector<LeftOut> leave_one_out(const TunedTable& table, const WhyNot& why_not);

struct RegretSummary {
  std::size_t problems = 0;
  std::size_t refused = 0;                 ///< of these, those for which nothing was eligible
  std::size_t winners = 0;                 ///< those for which the winner was chosen
  std::size_t ties = 0;                    ///< those for which it, or one tied with it, was chosen
  std::size_t known = 0;                   ///< those whose regret is known
  std::optional<double> median_percent{};  ///< of the known ones; absent: none is
  std::optional<double> worst_percent{};
};
[[nodiscard]] RegretSummary summarize_regrets(const std::vector<LeftOut>& left_out);
/// Summarizes only the choices made by this step.
[[nodiscard]] RegretSummary summarize_regrets(const std::vector<LeftOut>& left_out,
                                              ChoiceStep step);

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
