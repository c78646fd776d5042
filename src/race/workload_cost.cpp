#include "race/workload_cost.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "base/ranges.hpp"

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

/// How many problems a set does not serve, and what the others' calls take.
struct SetCost {
  std::size_t not_served = 0;
  double total_us = 0.0;

  auto operator<=>(const SetCost&) const = default;
};

/// The least cost of a problem with the configurations; nothing if it has a time with none.
std::optional<double> least_cost(const std::map<std::string, double>& costs,
                                 const std::vector<std::string>& configs) {
  std::optional<double> least;
  for (const std::string& config : configs) {
    if (const auto found = costs.find(config); found != costs.end()) {
      least = std::min(least.value_or(found->second), found->second);
    }
  }
  return least;
}

SetCost cost_of(const CostsByConfig& problems, const std::vector<std::string>& configs) {
  SetCost cost;
  for (const auto& costs : problems) {
    const auto least = least_cost(costs, configs);
    cost.not_served += least ? 0U : 1U;
    cost.total_us += least.value_or(0.0);
  }
  return cost;
}

std::vector<FewConfigs> choose_few(const CostsByConfig& problems, double winners_us) {
  std::set<std::string> candidates;
  for (const auto& costs : problems) {
    for (const auto& [config, us] : costs) {
      candidates.insert(config);
    }
  }
  std::vector<FewConfigs> few;
  std::vector<std::string> chosen;
  while (chosen.size() < std::min(kMostConfigs, candidates.size())) {
    std::optional<std::pair<SetCost, std::string>> best;
    for (const std::string& candidate : candidates) {
      std::vector<std::string> with = chosen;
      with.push_back(candidate);
      std::pair next{cost_of(problems, with), candidate};
      if (!best || next < *best) {
        best = std::move(next);
      }
    }
    chosen.push_back(best->second);
    if (best->first.not_served == 0) {
      few.push_back({chosen, best->first.total_us});
      if (best->first.total_us <= kCloseToWinners * winners_us) {
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
