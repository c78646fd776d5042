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

}  // namespace fatune
