#include "report/report.hpp"

#include <algorithm>
#include <variant>

namespace fatune {

double busy_percent(const RunReport& report) {
  const double available_s = report.wall_s * report.gpus;
  return available_s > 0.0 ? 100.0 * report.busy_s / available_s : 0.0;
}

const Result* find_result(const std::vector<Result>& results, const Config& config) {
  const auto found = std::ranges::find(results, config, &Result::config);
  return found == results.end() ? nullptr : &*found;
}

std::size_t count_failed(const ProblemReport& report) {
  return static_cast<std::size_t>(std::ranges::count_if(report.failures, [](const Result& result) {
    return !std::holds_alternative<Pruned>(result.outcome);
  }));
}

bool is_cover_race(const ProblemReport& report) { return report.run > 1 && report.pruned > 0; }

bool was_searched(const ProblemReport& report) {
  return std::ranges::any_of(report.ranking, [](const Result& result) {
    return result.proposal > 0 && result.proposed_by != kTriesAll;
  });
}

std::size_t count_candidates(const ProblemReport& report) {
  return report.ranking.size() + count_failed(report);
}

bool is_worse(const GateReport& report) {
  return std::ranges::any_of(report.checks, [](const GateCheck& check) {
    return check.verdict == GateVerdict::slower || check.verdict == GateVerdict::failed;
  });
}

}  // namespace fatune
