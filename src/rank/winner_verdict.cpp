#include "rank/winner_verdict.hpp"

#include <algorithm>
#include <variant>
#include <vector>

namespace fatune {
namespace {

double behind_percent(const Entry& winner, const Entry& fastest) {
  return 100.0 * (ranked_us(winner.outcome) / ranked_us(fastest.outcome) - 1.0);
}

bool is_narrow(double low, double middle, double high, const VerdictPolicy& policy) {
  const double half_width_percent = 50.0 * (high - low) / middle;
  return half_width_percent <= std::max(policy.tolerance_percent, policy.precision_percent);
}

/// Too few samples give an interval of less confidence.
const Timing* timing_of(const Entry& entry, const VerdictPolicy& policy) {
  const auto* measured = std::get_if<Measured>(&entry.outcome);
  return measured != nullptr && measured->timing.confidence >= policy.confidence ? &measured->timing
                                                                                 : nullptr;
}

/// By pairs, in which drift cancels, or by both medians, where noise is what counts.
bool is_compared(const Entry& entry, const Entry& fastest, const VerdictPolicy& policy) {
  const Timing* timing = timing_of(entry, policy);
  const Timing* least = timing_of(fastest, policy);
  if (timing == nullptr || least == nullptr) {
    return false;
  }
  if (entry.to_fastest && is_narrow(entry.to_fastest->low, 1.0, entry.to_fastest->high, policy)) {
    return true;
  }
  return is_narrow(timing->median_low_us, timing->median_us, timing->median_high_us, policy) &&
         is_narrow(least->median_low_us, least->median_us, least->median_high_us, policy);
}

/// An entry that ties with the fastest could itself be the fastest.
bool leads_clearly(const std::vector<Entry>& ranking, const VerdictPolicy& policy) {
  const Entry& fastest = ranking.front();
  return std::all_of(ranking.begin(), ranking.end(), [&](const Entry& entry) {
    const bool alone = &entry == &fastest;
    return alone ? timing_of(entry, policy) != nullptr
                 : entry.tie_group != fastest.tie_group || is_compared(entry, fastest, policy);
  });
}

bool is_known(const Entry& winner, const std::vector<Entry>& ranking, const VerdictPolicy& policy) {
  return &winner == &ranking.front() ? leads_clearly(ranking, policy)
                                     : is_compared(winner, ranking.front(), policy);
}

bool has_all_outcomes(const ProblemReport& report, const VerdictPolicy& policy) {
  return count_candidates(report) >= policy.candidates;
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
  return is_known(winner, report.ranking, policy) ? WinnerDoubt::none : WinnerDoubt::wide_interval;
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
