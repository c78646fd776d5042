#include "choose/tuned_choice.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/ranges.hpp"
#include "base/task_pool.hpp"
#include "choose/time_fit.hpp"
#include "model/kv_lengths.hpp"
#include "model/statistics.hpp"
#include "plan/config_text.hpp"
#include "plan/planner.hpp"

namespace fatune {

namespace {

namespace runtime = fatune_attention::detail;

/// Asks the rules, and keeps the first reason why a configuration is not eligible.
class Eligibility {
 public:
  Eligibility(const TunedTable& table, const Problem& problem, const DeviceLimits& device,
              const ConfigRules& rules)
      : problem_(problem.seq_lens_kv.empty() || is_packed(problem)
                     ? problem
                     : with_unknown_kv_lengths(problem)),
        device_(device),
        rules_(rules),
        is_empty_(table.problems.empty()) {}

  [[nodiscard]] bool takes(const Config& config) {
    const auto reason = why_not(config);
    if (reason && first_reason_.empty()) {
      first_reason_ = *reason;
    }
    return !reason;
  }
  /// Whether or not the configuration is eligible.
  [[nodiscard]] bool find_time(const Config& config, ModelTime& time) const {
    const auto found =
        rules_.model_time ? rules_.model_time(config, problem_, device_) : std::nullopt;
    time = found.value_or(ModelTime());
    return found.has_value();
  }
  [[nodiscard]] std::string refusal() const {
    return first_reason_.empty() ? nothing_asked() : first_reason_;
  }

 private:
  static constexpr const char* kOfEightBits =
      "Q, K and V have 8 bits, as those of no tuned problem have";

  const Problem problem_;
  [[nodiscard]] std::optional<std::string> why_not(const Config& config) const {
    return problem_.latent              ? "V is columns of K, as that of no tuned problem is"
           : has_query_scales(problem_) ? kOfEightBits
                                        : rules_.why_not(config, problem_, device_);
  }

  /// Rows and defaults answer only for problems of their own kv_kind_of().
  [[nodiscard]] std::string nothing_asked() const {
    if (is_empty_) {
      return "the table is empty";
    }
    if (has_query_scales(problem_)) {
      return kOfEightBits;
    }
    if (!has_scales(problem_)) {
      return "no tuned problem has K and V of 16 bits";
    }
    const bool of_keys = runtime::kv_kind_of(runtime_problem(problem_)).key_scales;
    return fmt::format("no tuned problem has K and V in {} with scales of {}",
                       dtype_name(problem_.kv_dtype), of_keys ? "each key" : "heads or all");
  }

  const DeviceLimits& device_;
  const ConfigRules& rules_;
  const bool is_empty_;
  std::string first_reason_;
};

const Config& config_at(const RuntimeTable& table, int configuration) {
  return *table.configs().at(static_cast<std::size_t>(configuration));
}

std::vector<Config> tried(const RuntimeTable& table, const runtime::Choice& choice) {
  std::vector<Config> configs;
  if (choice.configuration >= 0) {
    configs.push_back(config_at(table, choice.configuration));
  }
  for (int i = 1; i < choice.fastest.count(); ++i) {
    configs.push_back(config_at(table, choice.fastest[i].configuration));
  }
  return configs;
}

TunedChoice choice_of(const TunedTable& table, const RuntimeTable& runtime_table,
                      const runtime::Choice& choice, const ConfigRules& rules) {
  if (choice.step == ChoiceStep::predicted) {
    const Config& config = config_at(runtime_table, choice.configuration);
    TunedChoice predicted{choice.step, config, rules.short_form(config)};
    predicted.distance = choice.distance;
    predicted.predicted_us = choice.predicted_us;
    predicted.predicted_by = std::next(table.gpus.begin(), choice.predicting_gpu)->first;
    return predicted;
  }
  if (choice.row >= 0) {
    const auto row = static_cast<std::size_t>(choice.row);
    const TunedTime& time = table.problems[row].times[static_cast<std::size_t>(choice.place)];
    return {choice.step, time.config, time.short_form, row, {}, choice.distance};
  }
  if (choice.fallback >= 0) {
    const auto index = static_cast<std::size_t>(choice.fallback);
    const DefaultConfig& known = table.defaults[index];
    return {choice.step, known.config, known.short_form, {}, index};
  }
  return {};
}

std::optional<std::string> why_not_launched(const Family& family, const Config& config,
                                            const Problem& problem, const DeviceLimits& device) {
  if (const auto invalid = check_valid(family, config, &problem, &device)) {
    return invalid->reason;
  }
  if (const auto unlaunchable = check_limits({family, config, problem, device})) {
    return unlaunchable->limit;
  }
  return std::nullopt;
}

/// What is known of configurations on a row. One that is not listed has the time of a listed one
/// that does the same there: they share a fit, and their family's model has the same time for both.
class RowTimes {
 public:
  RowTimes(const TunedTable& table, const TunedProblem& row, const ConfigRules& rules)
      : table_(table), row_(row), rules_(rules) {}

  /// Null: its time is not known.
  [[nodiscard]] const TunedTime* find(const Config& config) const {
    const TunedTime* const own = listed(config);
    return own != nullptr || !rules_.model_time || row_.known == nullptr ? own
                                                                         : of_the_same(config);
  }
  [[nodiscard]] std::optional<double> regret_percent(const Config& config) const {
    const TunedTime* const time = find(config);
    return time == nullptr ? std::nullopt : std::optional(time->regret_percent);
  }
  /// The least of those that are known.
  [[nodiscard]] std::optional<double> least_regret_percent(
      const std::vector<Config>& configs) const {
    std::optional<double> least;
    for (const Config& config : configs) {
      if (const auto regret = regret_percent(config)) {
        least = std::min(least.value_or(*regret), *regret);
      }
    }
    return least;
  }

 private:
  [[nodiscard]] const TunedTime* listed(const Config& config) const {
    const auto time = row_.find(config);
    return time == row_.times.end() ? nullptr : &*time;
  }
  [[nodiscard]] const TunedTime* of_the_same(const Config& config) const {
    const auto model = rules_.model_time(config, row_.problem, table_.gpus.at(row_.gpu));
    const Config alike = without_rest(table_, config);
    const auto same = std::ranges::find_if(*row_.known, [&](const KnownTime& known) {
      return model && !known.at_least && known.model.clocks == model->clocks &&
             known.model.parts == model->parts && without_rest(table_, known.config) == alike;
    });
    return same == row_.known->end() ? nullptr : listed(same->config);
  }

  const TunedTable& table_;
  const TunedProblem& row_;
  const ConfigRules& rules_;
};

LeftOut leave_out(const TunedTable& table, std::size_t row, const ConfigRules& rules) {
  const TunedProblem& tuned = table.problems[row];
  LeftOut left{
      row, choose_tuned(without_row(table, row), tuned.problem, table.gpus.at(tuned.gpu), rules)};
  const RowTimes times(table, tuned, rules);
  if (const TunedTime* const time = times.find(left.choice.config)) {
    left.is_winner = time == &tuned.times.front();
    left.ties_with_winner = time->tie_group == tuned.times.front().tie_group;
    left.regret_percent = time->regret_percent;
    if (const auto predicted_us = left.choice.predicted_us) {
      left.time_error_percent = 100.0 * (time->time_us / *predicted_us - 1.0);
    }
  }
  left.tried_regret_percent = times.least_regret_percent(left.choice.tried);
  return left;
}

constexpr std::size_t kLeastLeftOut = 5;

/// `of` gives the number of a problem.
template <typename Of>
Spread spread_of(const std::vector<LeftOut>& left_out, Of of) {
  constexpr double kUnknown = std::numeric_limits<double>::infinity();
  std::vector<double> numbers =
      mapped(left_out, [&](const LeftOut& left) { return of(left).value_or(kUnknown); });
  std::ranges::sort(numbers);
  const auto known = [](double number) {
    return std::isfinite(number) ? std::optional(number) : std::nullopt;
  };
  return {known(median_of_sorted(numbers)), known(numbers.back())};
}

/// Nothing: too few were chosen for in this way.
std::optional<Expectation> expectation_of(const std::vector<LeftOut>& left_out) {
  if (left_out.size() < kLeastLeftOut) {
    return std::nullopt;
  }
  return Expectation{spread_of(left_out, [](const LeftOut& left) { return left.regret_percent; }),
                     spread_of(left_out,
                               [](const LeftOut& left) {
                                 const auto& error = left.time_error_percent;
                                 return error ? std::optional(std::abs(*error)) : std::nullopt;
                               }),
                     summarize_regrets(left_out).known.problems};
}

void add_if_known(const std::optional<double>& percent, std::vector<double>& percents) {
  if (percent) {
    percents.push_back(*percent);
  }
}

KnownRegrets known_regrets(std::vector<double> percents) {
  if (percents.empty()) {
    return {};
  }
  std::ranges::sort(percents);
  return {percents.size(), median_of_sorted(percents), percents.back()};
}

/// Those for which the step made the choice, and which are as far from other rows as the choice's
/// problem, or farther.
std::vector<LeftOut> as_far(const std::vector<LeftOut>& left_out, ChoiceStep step,
                            const Distance& distance) {
  return filtered(left_out, [&](const LeftOut& left) {
    return left.choice.step == step && !(left.choice.distance < distance);
  });
}

Expectation expectation(const TunedTable& table, const std::vector<LeftOut>& left_out,
                        const TunedChoice& choice, bool has_lengths) {
  if (!choice.untuned.empty() || has_lengths) {
    return {};
  }
  if (choice.step == ChoiceStep::exact) {
    const std::optional<double> regret =
        table.problems[*choice.row].find(choice.config)->regret_percent;
    Expectation exact;
    exact.regret = {regret, regret};
    exact.known = 1;
    return exact;
  }
  if (choice.step == ChoiceStep::predicted) {
    return expectation_of(as_far(left_out, choice.step, choice.distance)).value_or(Expectation());
  }
  for (const ChoiceStep surely :
       {ChoiceStep::same_bucket, ChoiceStep::neighbour_bucket, ChoiceStep::same_arch}) {
    const auto found = expectation_of(as_far(left_out, surely, choice.distance));
    if (surely >= choice.step && found) {
      return *found;
    }
  }
  return {};
}

}  // namespace

std::string_view choice_step_name(ChoiceStep step) { return fatune_attention::step_name(step); }

std::vector<NearRow> near_rows(const TunedTable& table, const Problem& problem,
                               const DeviceLimits& device) {
  const RuntimeTable runtime_table(table);
  const GpuModel model = model_of(device);
  const fatune_attention::Problem asked = runtime::problem_of_rows(runtime_problem(problem));
  const runtime::Wanted wanted{asked, problem.layout == Layout::bhsd};
  const auto next = [&](const NearRow* last) {
    return runtime::next_near_row(runtime_table.table(), wanted, runtime_gpu(model), last);
  };
  std::vector<NearRow> rows;
  for (auto near = next(nullptr); near && near->step < ChoiceStep::nearest;
       near = next(&rows.back())) {
    rows.push_back(*near);
  }
  return rows;
}

TunedChoice choose_tuned(const TunedTable& table, const Problem& problem,
                         const DeviceLimits& device, const ConfigRules& rules) {
  const RuntimeTable runtime_table(table);
  const GpuModel model = model_of(device);
  const fatune_attention::Problem whole = runtime_problem(problem);
  const fatune_attention::Problem asked = runtime::problem_of_rows(whole);
  const runtime::Wanted wanted{asked, problem.layout == Layout::bhsd, whole.has_seq_lens_kv};
  Eligibility eligibility(table, problem, device, rules);
  const auto config = [&](int configuration) -> const Config& {
    return config_at(runtime_table, configuration);
  };
  const runtime::Choice choice = runtime::choose(
      runtime_table.table(), wanted, runtime_gpu(model),
      [&](int configuration) { return eligibility.takes(config(configuration)); },
      [&](int configuration, ModelTime& time) {
        return eligibility.find_time(config(configuration), time);
      });
  TunedChoice chosen = choice_of(table, runtime_table, choice, rules);
  chosen.tried = tried(runtime_table, choice);
  if (chosen.step == ChoiceStep::refused) {
    chosen.refusal = eligibility.refusal();
  }
  chosen.untuned = untuned(runtime_table.table(), wanted, runtime_gpu(model), choice.step).text;
  return chosen;
}

std::vector<Config> predicted_order(const TunedTable& table, const Problem& problem,
                                    const DeviceLimits& device, const ConfigRules& rules) {
  const RuntimeTable runtime_table(table);
  const GpuModel model = model_of(device);
  Eligibility eligibility(table, problem, device, rules);
  const auto config = [&](int configuration) -> const Config& {
    return config_at(runtime_table, configuration);
  };
  const auto find_time = [&](int configuration, ModelTime& time) {
    return eligibility.takes(config(configuration)) &&
           eligibility.find_time(config(configuration), time);
  };
  const fatune_attention::Problem asked = runtime::problem_of_rows(runtime_problem(problem));
  const auto nearest = runtime::predicting_rows(
      runtime_table.table(), {asked, problem.layout == Layout::bhsd}, runtime_gpu(model));
  std::vector<std::pair<double, Config>> predicted;
  if (nearest) {
    runtime::for_each_predicted(
        runtime_table.table(), asked, *nearest, find_time,
        [&](int configuration, double us) { predicted.emplace_back(us, config(configuration)); });
  }
  std::ranges::stable_sort(predicted);
  return mapped(predicted, [](auto& one) { return std::move(one.second); });
}

ConfigRules families_say(const FamilySet& families) {
  return {[&families](const Config& config, const Problem& problem,
                      const DeviceLimits& device) -> std::optional<std::string> {
            const Family& family = families.of(config);
            try {
              return why_not_launched(family, config, problem, device);
            } catch (const Error& error) {
              return "the problem is too large for it: " + error.what_was_wrong();
            }
          },
          [&families](const Config& config, const Problem& problem,
                      const DeviceLimits& device) -> std::optional<ModelTime> {
            try {
              return find_model_time({families.of(config), config, problem, device});
            } catch (const Error&) {  // as above
              return std::nullopt;
            }
          },
          [&families](const Config& config) { return short_form(families.of(config), config); }};
}

std::vector<LeftOut> leave_one_out(const TunedTable& table, const ConfigRules& rules,
                                   const RowFilter& wanted) {
  std::vector<std::size_t> rows;
  for (std::size_t row = 0; row < table.problems.size(); ++row) {
    if (wanted(table.problems[row])) {
      rows.push_back(row);
    }
  }
  std::vector<LeftOut> left_out(rows.size());
  for_each_index(rows.size(), usable_cores(),
                 [&](std::size_t i) { left_out[i] = leave_out(table, rows[i], rules); });
  return left_out;
}

bool is_evidence(const TunedTable& table, const TunedProblem& row, const Problem& problem,
                 const DeviceLimits& device) {
  const GpuModel gpu = model_of(device);
  const auto has_few = [](const Problem& of) {
    return runtime::has_few_queries(runtime::problem_of_rows(runtime_problem(of)));
  };
  return has_few(row.problem) == has_few(problem) && (row.gpu == gpu || !table.gpus.contains(gpu));
}

RegretSummary summarize_regrets(const std::vector<LeftOut>& left_out) {
  RegretSummary summary;
  std::vector<double> regrets;
  std::vector<double> tried_regrets;
  for (const LeftOut& left : left_out) {
    ++summary.problems;
    summary.refused += left.choice.step == ChoiceStep::refused ? 1U : 0U;
    summary.winners += left.is_winner ? 1U : 0U;
    summary.ties += left.ties_with_winner ? 1U : 0U;
    add_if_known(left.regret_percent, regrets);
    add_if_known(left.tried_regret_percent, tried_regrets);
  }
  summary.known = known_regrets(std::move(regrets));
  summary.tried = known_regrets(std::move(tried_regrets));
  return summary;
}

RegretSummary summarize_regrets(const std::vector<LeftOut>& left_out, ChoiceStep step) {
  return summarize_regrets(
      filtered(left_out, [&](const LeftOut& left) { return left.choice.step == step; }));
}

Prediction predict(const TunedTable& table, const std::vector<LeftOut>& all_left_out,
                   const Problem& problem, const DeviceLimits& device, const ConfigRules& rules) {
  const std::vector<LeftOut> left_out = filtered(all_left_out, [&](const LeftOut& left) {
    return is_evidence(table, table.problems[left.row], problem, device);
  });
  Prediction prediction{problem, choose_tuned(table, problem, device, rules), {}, {}};
  prediction.neighbours = mapped(near_rows(table, problem, device), [&](const NearRow& near) {
    const TunedProblem& row = table.problems[static_cast<std::size_t>(near.row)];
    const RowTimes times(table, row, rules);
    return Neighbour{near, times.regret_percent(prediction.choice.config)};
  });
  TunedChoice& choice = prediction.choice;
  if (choice.step == ChoiceStep::predicted && choice.untuned.empty() &&
      as_far(left_out, choice.step, choice.distance).empty() && !left_out.empty()) {
    choice.untuned = fmt::format(
        "all numbers together: {:.1f} octaves from the nearest tuned problem; no tuned problem is "
        "as far from the others",
        choice.distance.octaves);
  }
  const bool has_lengths = runtime::problem_of_rows(runtime_problem(problem)).has_seq_lens_kv;
  if (!choice.predicted_by || choice.predicted_by == model_of(device)) {
    prediction.expected = expectation(table, left_out, choice, has_lengths);
  }
  return prediction;
}

}  // namespace fatune
