#include "engine/audit.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace fatune {
namespace {

double time_or_endless_us(const Result& result) {
  return is_ranked(result.outcome) ? ranked_us(result.outcome)
                                   : std::numeric_limits<double>::infinity();
}

/// The seconds that the result's samples took on the GPU, without those of its verification.
double sampled_s(const Result& result) {
  const auto* measured = std::get_if<Measured>(&result.outcome);
  if (measured == nullptr) {
    return 0.0;
  }
  const std::vector<double>& samples_us = measured->timing.samples_us;
  return 1e-6 * std::accumulate(samples_us.begin(), samples_us.end(), 0.0);
}

/// Extrapolates a sum over the configurations tried to all that the rule dropped.
double extrapolate(double sum, const RuleAudit& audit) {
  return sum * static_cast<double>(audit.pruned) / static_cast<double>(audit.audited);
}

RuleAudit audit_rule(const std::string& rule, std::int64_t pruned, const ProblemReport& report) {
  RuleAudit audit;
  audit.rule = rule;
  audit.pruned = pruned;
  double compile_ms = 0.0;
  double measure_s = 0.0;
  const Result* best = nullptr;
  for (const Result& result : report.audited) {
    if (result.pruned_by == rule) {
      ++audit.audited;
      compile_ms += result.compile_ms;
      measure_s += sampled_s(result);
      best = best == nullptr && is_ranked(result.outcome) ? &result : best;
    }
  }
  if (audit.audited > 0) {
    audit.saved_compile_s = extrapolate(1e-3 * compile_ms, audit);
    audit.saved_measure_s = extrapolate(measure_s, audit);
  }
  if (best != nullptr && !report.ranking.empty()) {
    audit.best_config = best->short_form;
    const double winner_us = ranked_us(report.ranking.front().outcome);
    audit.gain_percent = 100.0 * (winner_us / ranked_us(best->outcome) - 1.0);
  }
  return audit;
}

}  // namespace

void add_audit(const ProblemPlan& plan, ProblemReport& report) {
  std::ranges::stable_sort(report.audited, [](const auto& a, const auto& b) {
    return time_or_endless_us(a) < time_or_endless_us(b);
  });
  for (Result& result : report.audited) {
    result.rank = 0;
    result.tie_group = 0;
  }
  for (const auto& [rule, pruned] : plan.pruned_by_rule) {
    report.audit.push_back(audit_rule(rule, pruned, report));
  }
}

}  // namespace fatune
