#include "rank/duel.hpp"

#include <algorithm>
#include <variant>

namespace fatune {
namespace {

std::optional<double> median_of(const Result* result) {
  return result == nullptr ? std::nullopt : std::optional(ranked_us(result->outcome));
}

bool has_same_code(const Result& a, const Result& b) {
  return a.same_code_as == b.short_form || b.same_code_as == a.short_form;
}

/// The ratio of the time of `ours` to that of `theirs`. Pairs are kept with the slower of the two.
std::optional<MedianInterval> ratio_of(const Result& ours, const Result& theirs) {
  if (ours.to_fastest) {
    return ours.to_fastest;
  }
  if (!theirs.to_fastest || theirs.to_fastest->low <= 0.0) {
    return std::nullopt;
  }
  const MedianInterval& inverse = *theirs.to_fastest;
  return MedianInterval{1.0 / inverse.high, 1.0 / inverse.low, inverse.confidence};
}

double percent_above_one(double ratio) { return 100.0 * (ratio - 1.0); }

std::size_t count_rounds(const Result& result) {
  const auto* const measured = std::get_if<Measured>(&result.outcome);
  return measured == nullptr ? 0 : measured->timing.samples_us.size();
}

void judge_timed(const Result& ours, const Result& theirs, double tolerance_percent,
                 RivalCheck& check) {
  if (has_same_code(ours, theirs)) {
    check.verdict = Verdict::equal;
    check.why = "their machine code and launch are the same";
    return;
  }
  check.rounds = std::min(count_rounds(ours), count_rounds(theirs));
  const std::optional<MedianInterval> ratio = ratio_of(ours, theirs);
  if (!ratio) {
    check.doubt = Doubt::few_samples;
    return;
  }
  check.slower_by = SlowerBy{percent_above_one(*check.time_us / *check.rival_us),
                             percent_above_one(ratio->low), percent_above_one(ratio->high)};
  check.verdict = verdict_of(*check.slower_by, tolerance_percent);
  check.doubt = check.verdict == Verdict::undecided ? Doubt::wide_interval : Doubt::none;
}

}  // namespace

void judge_duel(const ProblemReport& duel, const Config& config, const Config& rival,
                double tolerance_percent, RivalCheck& check) {
  const Result* const ours = find_result(duel.ranking, config);
  const Result* const theirs = find_result(duel.ranking, rival);
  const Result* const our_failure = find_result(duel.failures, config);
  const Result* const their_failure = find_result(duel.failures, rival);
  check.time_us = median_of(ours);
  check.rival_us = median_of(theirs);
  if (ours != nullptr && theirs != nullptr) {
    judge_timed(*ours, *theirs, tolerance_percent, check);
  } else if ((ours == nullptr && our_failure == nullptr) ||
             (theirs == nullptr && their_failure == nullptr)) {
    check.doubt = Doubt::stopped;
  } else {
    check.verdict = verdict_of(ours != nullptr ? TrialEnd::timed : TrialEnd::failed,
                               theirs != nullptr ? TrialEnd::timed : TrialEnd::failed);
    check.why = outcome_summary((ours == nullptr ? our_failure : their_failure)->outcome);
  }
}

}  // namespace fatune
