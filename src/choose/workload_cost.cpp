#include "choose/workload_cost.hpp"

#include <algorithm>
#include <map>
#include <ranges>
#include <set>

#include "base/ranges.hpp"
#include "choose/cover.hpp"

namespace fatune {
namespace {

constexpr double kCloseToWinners = 1.005;
constexpr std::size_t kMostConfigs = 16;

/// Microseconds of all calls of each problem by short form.
using CostsByConfig = std::vector<std::map<std::string, double>>;

bool is_called(const ProblemReport& problem) {
  return problem.calls && problem.run == 1 && !is_cover_race(problem) && !problem.ranking.empty();
}

void add_winner(const ProblemReport& problem, WorkloadCost& cost) {
  const Outcome& winner = problem.ranking.front().outcome;
  const double us = ranked_us(winner);
  cost.calls += *problem.calls;
  cost.winners_us += *problem.calls * us;
  const auto* measured = std::get_if<Measured>(&winner);
  const bool has_bounds = measured != nullptr && measured->timing.median_low_us > 0.0;
  cost.low_us += *problem.calls * (has_bounds ? measured->timing.median_low_us : us);
  cost.high_us += *problem.calls * (has_bounds ? measured->timing.median_high_us : us);
  if (problem.before_us) {
    ++cost.known;
    cost.before_us += *problem.calls * *problem.before_us;
    cost.after_us += *problem.calls * us;
  }
}

/// What each configuration loses on each problem's calls against the winner.
ServingCosts losses_of(const CostsByConfig& problems, const std::vector<std::string>& configs) {
  return mapped(problems, [&](const auto& costs) {
    const double least = std::ranges::min(costs | std::views::values);
    return mapped(configs, [&](const std::string& config) {
      const double* const us = value_at(costs, config);
      return us == nullptr ? kNotServed : *us - least;
    });
  });
}

std::vector<FewConfigs> choose_few(const CostsByConfig& problems, double winners_us) {
  std::set<std::string> candidates;
  for (const auto& costs : problems) {
    for (const auto& [config, us] : costs) {
      candidates.insert(config);
    }
  }
  const std::vector<std::string> configs(candidates.begin(), candidates.end());
  std::vector<FewConfigs> few;
  FewConfigs set;
  for (const GrownCover& grown : grow_cover(losses_of(problems, configs), kMostConfigs)) {
    set.configs.push_back(configs[grown.added]);
    set.total_us = winners_us + grown.cost;
    if (grown.not_served == 0) {
      few.push_back(set);
      if (set.total_us <= kCloseToWinners * winners_us) {
        break;
      }
    }
  }
  return few;
}

}  // namespace

std::optional<WorkloadCost> workload_cost(const std::vector<ProblemReport>& problems) {
  WorkloadCost cost;
  CostsByConfig costs;
  for (const ProblemReport& problem : problems) {
    if (is_called(problem)) {
      add_winner(problem, cost);
      auto& of_problem = costs.emplace_back();
      for (const Result& result : problem.ranking) {
        of_problem[result.short_form] = *problem.calls * ranked_us(result.outcome);
      }
    }
  }
  if (costs.empty()) {
    return std::nullopt;
  }
  cost.few = choose_few(costs, cost.winners_us);
  return cost;
}

}  // namespace fatune
