#include "rank/winner_verdict.hpp"

#include <algorithm>
#include <variant>
#include <vector>

namespace fatune {
namespace {

const Entry* find_entry(const std::vector<Entry>& entries, const Config& config) {
  const auto found = std::find_if(entries.begin(), entries.end(),
                                  [&](const Entry& entry) { return entry.config == config; });
  return found == entries.end() ? nullptr : &*found;
}

double behind_percent(const Entry& winner, const Entry& fastest) {
  return 100.0 * (ranked_us(winner.outcome) / ranked_us(fastest.outcome) - 1.0);
}

/// Too few samples give an interval of less confidence.
bool is_precise(const Entry& entry, const VerdictPolicy& policy) {
  const auto* measured = std::get_if<Measured>(&entry.outcome);
  if (measured == nullptr || measured->timing.confidence < policy.confidence) {
    return false;
  }
  const Timing& timing = measured->timing;
  const double half_width_percent =
      50.0 * (timing.median_high_us - timing.median_low_us) / timing.median_us;
  return half_width_percent <= std::max(policy.tolerance_percent, policy.precision_percent);
}

bool has_all_outcomes(const ProblemReport& report, const VerdictPolicy& policy) {
  return report.ranking.size() + report.failures.size() >= policy.candidates;
}

WinnerDoubt doubt_of(const ProblemReport& report, const Entry& winner,
                     const VerdictPolicy& policy) {
  const Entry& fastest = report.ranking.front();
  if (!has_all_outcomes(report, policy)) {
    return WinnerDoubt::stopped;
  }
  if (behind_percent(winner, fastest) > policy.tolerance_percent) {
    return WinnerDoubt::tied_behind;
  }
  return is_precise(winner, policy) && is_precise(fastest, policy) ? WinnerDoubt::none
                                                                   : WinnerDoubt::wide_interval;
}

bool is_beaten(const Entry& winner, const Entry& fastest, const VerdictPolicy& policy) {
  return winner.tie_group != fastest.tie_group &&
         behind_percent(winner, fastest) > policy.tolerance_percent;
}

void judge_ranked(const ProblemReport& report, const Entry& winner, const VerdictPolicy& policy,
                  WinnerCheck& check) {
  check.winner_us = ranked_us(winner.outcome);
  const bool beaten = is_beaten(winner, report.ranking.front(), policy);
  check.doubt = beaten ? WinnerDoubt::none : doubt_of(report, winner, policy);
  check.verdict = beaten                             ? WinnerVerdict::beaten
                  : check.doubt == WinnerDoubt::none ? WinnerVerdict::confirmed
                                                     : WinnerVerdict::undecided;
}

}  // namespace

void judge_winner(const ProblemReport& report, const Config& winner, const VerdictPolicy& policy,
                  WinnerCheck& check) {
  if (!report.ranking.empty()) {
    check.fastest = report.ranking.front().short_form;
    check.fastest_us = ranked_us(report.ranking.front().outcome);
  }
  if (const Entry* ranked = find_entry(report.ranking, winner)) {
    judge_ranked(report, *ranked, policy, check);
  } else if (const Entry* failed = find_entry(report.failures, winner)) {
    check.verdict = WinnerVerdict::failed;
    check.doubt = WinnerDoubt::none;
    check.failure = outcome_summary(failed->outcome);
  }
}

}  // namespace fatune
