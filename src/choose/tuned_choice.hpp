#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "choose/tuned_table.hpp"
#include "model/config.hpp"
#include "model/device_limits.hpp"
#include "model/problem.hpp"
#include "plan/family.hpp"
#include "runtime/choose.hpp"

namespace fatune {

using fatune_attention::detail::Buckets;
using fatune_attention::detail::buckets_of;
using fatune_attention::detail::Coordinates;
using fatune_attention::detail::Distance;
using fatune_attention::detail::ModelTime;
using fatune_attention::detail::Nearness;
using fatune_attention::detail::nearness;

inline constexpr std::array<std::string_view, 7> kBucketNames{
    "queries", "keys", "heads_per_sm", "group", "window", "lse", "layout_bhsd"};

/// See runtime/choose.hpp. Precondition: check_problem() passes, sm_count > 0.
[[nodiscard]] inline Coordinates coordinates_of(const Problem& problem, int sm_count) {
  return fatune_attention::detail::coordinates_of(
      {runtime_problem(problem), problem.layout == Layout::bhsd}, sm_count);
}

using ChoiceStep = fatune_attention::Step;
[[nodiscard]] std::string_view choice_step_name(ChoiceStep step);  ///< "exact", "same bucket", ...

/// A row of TunedTable::problems that says something about a problem on a device.
using fatune_attention::detail::NearRow;
/// The problem itself and its neighbours, nearest first: by step, distance, and place in the table.
[[nodiscard]] std::vector<NearRow> near_rows(const TunedTable& table, const Problem& problem,
                                             const DeviceLimits& device);

struct TunedChoice {
  ChoiceStep step = ChoiceStep::refused;
  Config config;
  std::string short_form;            ///< empty: refused
  std::optional<std::size_t> row{};  ///< index of TunedTable::problems; absent: default, or refused
  std::optional<std::size_t> fallback{};  ///< index of TunedTable::defaults
  /// From the row; if it was predicted, from the nearest row of its kind whose time the prediction
  /// is made from.
  Distance distance{};
  std::optional<double> predicted_us{};    ///< absent: it was not predicted
  std::optional<GpuModel> predicted_by{};  ///< whose measured times predicted it; absent as above
  /// What a library's trials launch on its caller's calls, the choice first; empty: refused.
  std::vector<Config> tried{};
  std::string refusal{};  ///< why none is eligible; else empty
  /// What is unlike all tuned problems (runtime/choose.hpp); empty: the problem is in the
  /// range that was tuned, or refused.
  std::string untuned{};
};

/// Returns why a configuration cannot be used for a problem on a device, or nothing if it can.
using WhyNot =
    std::function<std::optional<std::string>(const Config&, const Problem&, const DeviceLimits&)>;

/// What a choice asks about configurations.
struct ConfigRules {
  WhyNot why_not;
  /// Evaluates the model of a configuration's time; nothing: its family has none.
  std::function<std::optional<ModelTime>(const Config&, const Problem&, const DeviceLimits&)>
      model_time;
  /// The short form of a configuration whose time is predicted: no row may have it.
  std::function<std::string(const Config&)> short_form;

  template <std::convertible_to<WhyNot> Rule>
  ConfigRules(Rule rule)  // NOLINT(google-explicit-constructor): without models
      : why_not(std::move(rule)) {}
  ConfigRules(WhyNot of, decltype(model_time) model, decltype(short_form) text)
      : why_not(std::move(of)), model_time(std::move(model)), short_form(std::move(text)) {}
};

/// The configuration that an exported library chooses for a problem on a device
/// (runtime/choose.hpp), by the rows of problem_of_rows(). Where sequences have different numbers
/// of keys and are not packed, the rules are asked about with_unknown_kv_lengths() of the problem.
/// Precondition: check_problem() passes.
[[nodiscard]] TunedChoice choose_tuned(const TunedTable& table, const Problem& problem,
                                       const DeviceLimits& device, const ConfigRules& rules);

/// Returns the families' own rules: values that the kernel knows, its rules of validity for the
/// problem and the device, and the device's limits. A problem on which an expression fails, such as
/// one that is too large for the arguments, is refused. `families` must outlive the result.
[[nodiscard]] ConfigRules families_say(const FamilySet& families);

/// The configurations whose times on the problem are predicted, the fastest first.
[[nodiscard]] std::vector<Config> predicted_order(const TunedTable& table, const Problem& problem,
                                                  const DeviceLimits& device,
                                                  const ConfigRules& rules);

/// The choice for a tuned problem if it had not been tuned.
struct LeftOut {
  std::size_t row = 0;   ///< index of TunedTable::problems
  TunedChoice choice{};  ///< its indices are those of without_row()
  bool is_winner = false;
  bool ties_with_winner = false;  ///< it cannot be told apart from the winner, or is it
  /// The percentage by which it is slower than the winner. Absent: its time on this problem is not
  /// known.
  std::optional<double> regret_percent{};
  /// The percentage by which the fastest of what trials launch is slower than the winner, of those
  /// whose times on this problem are known: at most so much. Absent: none is known.
  std::optional<double> tried_regret_percent{};
  /// The percentage by which its time is longer than predicted. Absent: one of the two is not
  /// known.
  std::optional<double> time_error_percent{};
};
using RowFilter = std::function<bool(const TunedProblem&)>;
inline bool any_row(const TunedProblem&) { return true; }
/// Leaves out each row that `wanted` holds for in turn. Threads ask the rules at the same time.
[[nodiscard]] std::vector<LeftOut> leave_one_out(const TunedTable& table, const ConfigRules& rules,
                                                 const RowFilter& wanted = any_row);

/// Whether a row that is left out says how good the choice for a problem is: it has few queries if
/// the problem has, and is of the same GPU, unless nothing was tuned on that.
[[nodiscard]] bool is_evidence(const TunedTable& table, const TunedProblem& row,
                               const Problem& problem, const DeviceLimits& device);

/// Regrets of problems, of those whose regret is known.
struct KnownRegrets {
  std::size_t problems = 0;
  std::optional<double> median_percent{};  ///< absent: none is known
  std::optional<double> worst_percent{};
};

struct RegretSummary {
  std::size_t problems = 0;
  std::size_t refused = 0;  ///< of these, those for which nothing was eligible
  std::size_t winners = 0;  ///< those for which the winner was chosen
  std::size_t ties = 0;     ///< those for which it, or one tied with it, was chosen
  KnownRegrets known{};     ///< of the choices
  KnownRegrets tried{};     ///< of what a library's trials find: LeftOut::tried_regret_percent
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

/// What is known of numbers of left-out problems: that of one problem may not be known. These count
/// as greater than all others.
struct Spread {
  std::optional<double> typical_percent;  ///< median; absent: that of a problem whose is unknown
  std::optional<double> worst_percent;    ///< absent: some are unknown
};

/// How good a choice is likely to be. An exact choice has its own regret. Any other choice for a
/// problem in the range that was tuned is as good as those for the tuned problems that were left
/// out in turn and are evidence of it, for which the same step made the choice, and which are no
/// nearer to the others. If there are fewer than five, those of the next less sure step are used,
/// but for predicted choices. Outside that range nothing is known, nor for a problem with lengths
/// of keys, which no row has, nor of times that are predicted from another GPU's.
struct Expectation {
  Spread regret;
  Spread time_error;      ///< of the predicted time, without its sign
  std::size_t known = 0;  ///< number of problems whose regret is known
};

/// The choice for a problem, and how good it is likely to be.
struct Prediction {
  Problem problem;
  TunedChoice choice;
  std::vector<Neighbour> neighbours;  ///< nearest first
  Expectation expected;
};

/// `left_out`: leave_one_out() of the table, with all that is_evidence() for the problem.
[[nodiscard]] Prediction predict(const TunedTable& table, const std::vector<LeftOut>& left_out,
                                 const Problem& problem, const DeviceLimits& device,
                                 const ConfigRules& rules);

}  // namespace fatune
