#include "rank/gate_verdict.hpp"

#include <variant>

namespace fatune {
namespace {

std::optional<double> median_of(const Result* result) {
  return result == nullptr ? std::nullopt : std::optional(ranked_us(result->outcome));
}

std::string why_without_time(const ProblemReport& duel, const Config& config) {
  const Result* const failed = find_result(duel.failures, config);
  return failed == nullptr ? "the duel was stopped" : outcome_summary(failed->outcome);
}

bool has_same_code(const Result& a, const Result& b) {
  return a.same_code_as == b.short_form || b.same_code_as == a.short_form;
}

/// The ratio of the winner's time to the rival's. Pairs are kept with the slower of the two.
std::optional<MedianInterval> ratio_of(const Result& winner, const Result& rival) {
  if (winner.to_fastest) {
    return winner.to_fastest;
  }
  if (!rival.to_fastest || rival.to_fastest->low <= 0.0) {
    return std::nullopt;
  }
  const MedianInterval& inverse = *rival.to_fastest;
  return MedianInterval{1.0 / inverse.high, 1.0 / inverse.low, inverse.confidence};
}

GateVerdict verdict_of(const MedianInterval& ratio, double tolerance_percent) {
  const double most = 1.0 + tolerance_percent / 100.0;
  const double least = 1.0 / most;
  return ratio.low > most                           ? GateVerdict::slower
         : ratio.high < least                       ? GateVerdict::faster
         : ratio.low >= least && ratio.high <= most ? GateVerdict::equal
                                                    : GateVerdict::undecided;
}

std::size_t count_rounds(const Result& result) {
  const auto* const measured = std::get_if<Measured>(&result.outcome);
  return measured == nullptr ? 0 : measured->timing.samples_us.size();
}

void judge_timed(const Result& winner, const Result& rival, double tolerance_percent,
                 GateCheck& check) {
  if (has_same_code(winner, rival)) {
    check.verdict = GateVerdict::equal;
    check.why = "their machine code and launch are the same";
    return;
  }
  check.rounds = std::min(count_rounds(winner), count_rounds(rival));
  check.ratio = ratio_of(winner, rival);
  if (!check.ratio) {
    check.verdict = GateVerdict::undecided;
    check.why = "there are too few rounds for an interval";
    return;
  }
  check.verdict = verdict_of(*check.ratio, tolerance_percent);
}

}  // namespace

void judge_duel(const ProblemReport& duel, const Config& winner, const Config& rival,
                double tolerance_percent, GateCheck& check) {
  const Result* const ours = find_result(duel.ranking, winner);
  const Result* const theirs = find_result(duel.ranking, rival);
  check.winner_us = median_of(ours);
  check.rival_us = median_of(theirs);
  if (ours != nullptr && theirs != nullptr) {
    judge_timed(*ours, *theirs, tolerance_percent, check);
    return;
  }
  const bool stopped = ours == nullptr && find_result(duel.failures, winner) == nullptr;
  check.verdict = stopped           ? GateVerdict::undecided
                  : ours == nullptr ? GateVerdict::failed
                                    : GateVerdict::no_rival;
  check.why = why_without_time(duel, ours == nullptr ? winner : rival);
}

}  // namespace fatune
