#include "rank/winner_verdict.hpp"

#include <algorithm>
#include <variant>
#include <vector>

namespace fatune {
namespace {

double behind_percent(const Result& winner, const Result& fastest) {
  return 100.0 * (ranked_us(winner.outcome) / ranked_us(fastest.outcome) - 1.0);
}

bool is_narrow(double low, double middle, double high, const VerdictPolicy& policy) {
  const double half_width_percent = 50.0 * (high - low) / middle;
  return half_width_percent <= std::max(policy.tolerance_percent, policy.precision_percent);
}

/// The timing of a measured result. Null if its interval has too little confidence, as with too few
/// samples.
const Timing* timing_of(const Result& result, const VerdictPolicy& policy) {
  const auto* measured = std::get_if<Measured>(&result.outcome);
  return measured != nullptr && measured->timing.confidence >= policy.confidence ? &measured->timing
                                                                                 : nullptr;
}

/// Whether the comparison is precise enough: by pairs, in which drift cancels, or by both medians,
/// for the case that noise dominates.
bool is_compared(const Result& result, const Result& fastest, const VerdictPolicy& policy) {
  const Timing* timing = timing_of(result, policy);
  const Timing* least = timing_of(fastest, policy);
  if (timing == nullptr || least == nullptr) {
    return false;
  }
  if (result.to_fastest &&
      is_narrow(result.to_fastest->low, 1.0, result.to_fastest->high, policy)) {
    return true;
  }
  return is_narrow(timing->median_low_us, timing->median_us, timing->median_high_us, policy) &&
         is_narrow(least->median_low_us, least->median_us, least->median_high_us, policy);
}

/// Whether every result that ties with the fastest, and could itself be the fastest, is compared
/// precisely enough.
bool leads_clearly(const std::vector<Result>& ranking, const VerdictPolicy& policy) {
  const Result& fastest = ranking.front();
  return std::ranges::all_of(ranking, [&](const Result& result) {
    const bool alone = &result == &fastest;
    return alone ? timing_of(result, policy) != nullptr
                 : result.tie_group != fastest.tie_group || is_compared(result, fastest, policy);
  });
}

bool is_known(const Result& winner, const std::vector<Result>& ranking,
              const VerdictPolicy& policy) {
  return &winner == &ranking.front() ? leads_clearly(ranking, policy)
                                     : is_compared(winner, ranking.front(), policy);
}

bool has_all_outcomes(const ProblemReport& report, const VerdictPolicy& policy) {
  return count_candidates(report) >= policy.candidates;
}

WinnerDoubt doubt_of(const ProblemReport& report, const Result& winner,
                     const VerdictPolicy& policy) {
  const Result& fastest = report.ranking.front();
  if (!has_all_outcomes(report, policy)) {
    return WinnerDoubt::stopped;
  }
  if (behind_percent(winner, fastest) > policy.tolerance_percent) {
    return WinnerDoubt::tied_behind;
  }
  return is_known(winner, report.ranking, policy) ? WinnerDoubt::none : WinnerDoubt::wide_interval;
}

bool is_beaten(const Result& winner, const Result& fastest, const VerdictPolicy& policy) {
  return winner.tie_group != fastest.tie_group &&
         behind_percent(winner, fastest) > policy.tolerance_percent;
}

void judge_ranked(const ProblemReport& report, const Result& winner, const VerdictPolicy& policy,
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
  if (const Result* ranked = find_result(report.ranking, winner)) {
    judge_ranked(report, *ranked, policy, check);
  } else if (const Result* failed = find_result(report.failures, winner)) {
    check.verdict = WinnerVerdict::failed;
    check.doubt = WinnerDoubt::none;
    check.failure = outcome_summary(failed->outcome);
  }
}

}  // namespace fatune
