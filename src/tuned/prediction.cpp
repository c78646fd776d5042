#include "tuned/prediction.hpp"

#include <algorithm>
#include <utility>

#include "core/statistics.hpp"

namespace fatune {
namespace {

LeftOut leave_out(const TunedTable& table, std::size_t row, const WhyNot& why_not) {
  const TunedProblem& tuned = table.problems[row];
  LeftOut left{
      row, choose_tuned(without_row(table, row), tuned.problem, table.gpus.at(tuned.gpu), why_not)};
  const auto time = tuned.find(left.choice.config);
  if (time != tuned.times.end()) {
    left.is_winner = time == tuned.times.begin();
    left.ties_with_winner = time->tie_group == tuned.times.front().tie_group;
    left.regret_percent = time->regret_percent;
  }
  return left;
}

}  // namespace

std::vector<LeftOut> leave_one_out(const TunedTable& table, const WhyNot& why_not) {
  std::vector<LeftOut> all;
  for (std::size_t row = 0; row < table.problems.size(); ++row) {
    all.push_back(leave_out(table, row, why_not));
  }
  return all;
}

RegretSummary summarize_regrets(const std::vector<LeftOut>& left_out) {
  RegretSummary summary;
  std::vector<double> regrets;
  for (const LeftOut& left : left_out) {
    ++summary.problems;
    summary.refused += left.choice.step == ChoiceStep::refused ? 1U : 0U;
    summary.winners += left.is_winner ? 1U : 0U;
    summary.ties += left.ties_with_winner ? 1U : 0U;
    if (left.regret_percent) {
      regrets.push_back(*left.regret_percent);
    }
  }
  summary.known = regrets.size();
  if (!regrets.empty()) {
    std::ranges::sort(regrets);
    summary.median_percent = median_of_sorted(regrets);
    summary.worst_percent = regrets.back();
  }
  return summary;
}

RegretSummary summarize_regrets(const std::vector<LeftOut>& left_out, ChoiceStep step) {
  std::vector<LeftOut> of_step;
  std::ranges::copy_if(left_out, std::back_inserter(of_step),
                       [&](const LeftOut& left) { return left.choice.step == step; });
  return summarize_regrets(of_step);
}

namespace {

std::optional<double> regret_on(const TunedProblem& row, const Config& config) {
  const auto time = row.find(config);
  return time == row.times.end() ? std::nullopt : std::optional(time->regret_percent);
}

ExpectedRegret regret_left_out(const std::vector<LeftOut>& left_out, ChoiceStep step) {
  for (const ChoiceStep surely :
       {ChoiceStep::same_bucket, ChoiceStep::neighbour_bucket, ChoiceStep::same_arch}) {
    const RegretSummary regrets = summarize_regrets(left_out, surely);
    if (surely >= step && regrets.known > 0) {
      return {regrets.median_percent, regrets.worst_percent, regrets.known};
    }
  }
  return {};
}

ExpectedRegret expected_regret(const TunedTable& table, const std::vector<LeftOut>& left_out,
                               const TunedChoice& choice) {
  if (!choice.untuned.empty()) {
    return {};
  }
  if (choice.step == ChoiceStep::exact) {
    const auto regret = regret_on(table.problems[*choice.row], choice.config);
    return {regret, regret, 1};
  }
  return regret_left_out(left_out, choice.step);
}

}  // namespace

Prediction predict(const TunedTable& table, const std::vector<LeftOut>& left_out,
                   const Problem& problem, const DeviceLimits& device, const WhyNot& why_not) {
  Prediction prediction{problem, choose_tuned(table, problem, device, why_not), {}, {}};
  for (const NearRow& near : near_rows(table, problem, device)) {
    prediction.neighbours.push_back(
        {near,
         regret_on(table.problems[static_cast<std::size_t>(near.row)], prediction.choice.config)});
  }
  prediction.regret = expected_regret(table, left_out, prediction.choice);
  return prediction;
}

}  // namespace fatune
