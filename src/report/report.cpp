#include "report/report.hpp"

#include <algorithm>
#include <utility>
#include <variant>

namespace fatune {
namespace {

void keep_winners(ProblemReport& problem) {
  constexpr std::size_t kBest = 5;
  std::vector<Result> best = std::move(problem.ranking);
  const auto ranked = static_cast<std::int64_t>(best.size()) + problem.more_ranked;
  const auto failed = static_cast<std::int64_t>(count_failed(problem));
  best.resize(std::min(best.size(), kBest));
  for (Result& result : best) {
    if (auto* measured = std::get_if<Measured>(&result.outcome)) {
      measured->timing.samples_us.clear();
    }
  }
  problem = without_results(problem);
  problem.more_ranked = ranked - std::ssize(best);
  problem.more_failed = failed;
  problem.ranking = std::move(best);
}

}  // namespace

double busy_percent(const RunReport& report) {
  const double available_s = report.wall_s * report.gpus;
  return available_s > 0.0 ? 100.0 * report.busy_s / available_s : 0.0;
}

const Result* find_result(const std::vector<Result>& results, const Config& config) {
  const auto found = std::ranges::find(results, config, &Result::config);
  return found == results.end() ? nullptr : &*found;
}

ProblemReport without_results(const ProblemReport& report) {
  ProblemReport rest = report;
  rest.ranking.clear();
  rest.failures.clear();
  rest.audited.clear();
  return rest;
}

std::size_t count_failed(const ProblemReport& report) {
  const auto listed = std::ranges::count_if(report.failures, [](const Result& result) {
    return !std::holds_alternative<Pruned>(result.outcome);
  });
  return static_cast<std::size_t>(listed + report.more_failed);
}

bool is_cover_race(const ProblemReport& report) { return report.run > 1 && report.pruned > 0; }

bool was_searched(const ProblemReport& report) {
  return std::ranges::any_of(report.ranking, [](const Result& result) {
    return result.proposal > 0 && result.proposed_by != kTriesAll;
  });
}

std::size_t count_ranked(const ProblemReport& report) {
  return report.ranking.size() + static_cast<std::size_t>(report.more_ranked);
}

std::size_t count_candidates(const ProblemReport& report) {
  return count_ranked(report) + count_failed(report);
}

RunReport only_winners(const RunReport& report) {
  RunReport winners = report;
  std::erase_if(winners.problems, is_cover_race);
  for (ProblemReport& problem : winners.problems) {
    keep_winners(problem);
  }
  return winners;
}

}  // namespace fatune
