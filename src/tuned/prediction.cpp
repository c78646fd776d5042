#include "tuned/prediction.hpp"

namespace fatune {
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
