#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "model/candidate_list.hpp"
#include "model/measure_policy.hpp"
#include "model/outcome.hpp"
#include "model/part_tail.hpp"
#include "model/report.hpp"
#include "model/statistics.hpp"
#include "race/race_policy.hpp"
#include "race/round_course.hpp"

namespace fatune {

/// Samples, at most one per round. They are kept in the order of the rounds and sorted by time.
class Series {
 public:
  /// Precondition: `round` is after all rounds so far.
  void add(int round, double time_us);
  [[nodiscard]] std::size_t size() const { return taken_us_.size(); }
  [[nodiscard]] bool empty() const { return taken_us_.empty(); }
  [[nodiscard]] const std::vector<int>& rounds() const { return rounds_; }
  [[nodiscard]] const std::vector<double>& taken_us() const { return taken_us_; }
  [[nodiscard]] std::span<const double> sorted_us() const { return sorted_us_; }
  [[nodiscard]] double median_us() const;  ///< precondition: not empty

 private:
  std::vector<int> rounds_;
  std::vector<double> taken_us_;
  std::vector<double> sorted_us_;
};

/// The state of one candidate in a race. Rounds are counted from 1, separately in the race and in
/// the finals.
struct RacedCandidate {
  CandidateId id{};
  std::optional<double> admission_us{};
  Series race{};    ///< samples of the race; of the part while the race is on it
  Series finals{};  ///< empty unless it is a finalist
  Series part{};    ///< samples on the part, once its rounds are over
  LosingEvidence evidence{};
  std::set<CandidateId> opponents{};         ///< the candidates that the evidence compares it with
  std::optional<int> eliminated_in_round{};  ///< 0: at its admission
  bool withdrawn = false;
  bool kept_in = false;  ///< its time is wanted: never eliminated, always a finalist
  PartTail part_tail{};
  int kept_throttled = 0;   ///< samples kept although they were taken under throttling
  int kept_off_rounds = 0;  ///< samples kept although their round's sentinel was off

  [[nodiscard]] bool in_contention() const { return !withdrawn && !eliminated_in_round; }
  [[nodiscard]] bool has_samples() const {
    return !race.empty() || !finals.empty() || !part.empty();
  }
  /// The samples that give its time and its place: those of the finals, else of the race, else on
  /// the part.
  [[nodiscard]] const Series& ranked() const {
    return !finals.empty() ? finals : !race.empty() ? race : part;
  }
  /// Whether ranked() has samples of the part. Precondition: the rounds on the part are over.
  [[nodiscard]] bool is_of_part() const { return &ranked() == &part && !part.empty(); }
};

/// a / b for each round in which both were sampled. Uses the finals if both were sampled there,
/// else the race if both were sampled there, else the rounds on the part.
[[nodiscard]] std::vector<double> paired_ratios(const RacedCandidate& a, const RacedCandidate& b);

/// Half the width of the median's confidence interval, divided by the median. Empty if there are
/// too few samples for an interval of that confidence.
[[nodiscard]] std::optional<double> relative_half_width(const Series& series, double confidence);

/// True if more samples no longer narrow the interval: the interval of all samples is more than 0.9
/// times as wide as that of the first half, where independent noise would give 0.71. Drift or
/// changes of the clocks then outweigh the noise. False if there are no two intervals to compare.
[[nodiscard]] bool stopped_narrowing(const Series& series, double confidence);

/// The confidence interval of the median of a / b over shared rounds (paired_ratios). Empty if
/// there are too few shared rounds for an interval of that confidence.
[[nodiscard]] std::optional<MedianInterval> ratio_interval(const RacedCandidate& a,
                                                           const RacedCandidate& b,
                                                           double confidence);

/// The result of one candidate.
struct Standing {
  CandidateId candidate{};
  /// The samples of a finalist are those of the finals alone. A candidate that was eliminated at
  /// its admission, or not yet sampled, has its admission sample. No samples: it was withdrawn, or
  /// the caller stopped before its first sample.
  Timing timing;
  /// The part's share of the problem's work, if the samples are of the part. Their times are then
  /// scaled to the whole problem, by the ratio of the fastest candidate that was timed on both. 0:
  /// the samples are of the whole problem.
  double part_share = 0.0;
  int place = 0;      ///< 1 is the fastest; 0: no samples
  int tie_group = 0;  ///< members of a group cannot be told apart from its first; from 1
  /// The interval of the median ratio of its time to the fastest candidate's, paired by round.
  /// Absent: it is the fastest, or they share too few rounds.
  std::optional<MedianInterval> to_fastest;
  bool finalist = false;
  /// 0: at its admission. Rounds of the finals continue the count of the race.
  std::optional<int> eliminated_in_round;
  std::vector<std::string> warnings;
};

/// `sentinel` and `at_sm_mhz` are left to the caller, who knows labels and clocks.
struct RaceResult : MeasuringSummary {
  std::vector<Standing> standings;  ///< ordered by admission
  std::optional<CandidateId> sentinel_id;
};

enum class RacePhase { racing, finals, done };

/// Whether the race began on a part of the problem.
[[nodiscard]] inline bool has_part(const RacePolicy& policy) {
  return policy.part_share.has_value() && policy.strategy == Strategy::race;
}

/// The state of a race without the round under way. Plain data: the rules that read and change it
/// are below. `stopped_because` is the reason for the end. Until the finals end, it is the reason
/// for which they began.
struct RaceState : MeasuringSummary {
  explicit RaceState(const RacePolicy& of) : policy(of), on_part(has_part(of)) {
    part_share = of.part_share.value_or(0.0);
  }

  RacePolicy policy;
  CandidateList<RacedCandidate> candidates{};
  std::optional<CandidateId> leader{};
  RacePhase phase = RacePhase::racing;
  std::vector<CandidateId> chosen{};  ///< all that entered the finals, eliminated or not
  bool closed = false;
  bool on_part = false;  ///< samples are of the part of the problem; only while racing
};

/// The candidates that can still win, in the order of admission.
[[nodiscard]] std::vector<CandidateId> contenders(const RaceState& state);
/// The candidates chosen for the finals that have been neither eliminated nor withdrawn.
[[nodiscard]] std::vector<CandidateId> finalists(const RaceState& state);

// The rules that read and change a RaceState.

// Who can no longer win (elimination.cpp).

/// Bets on each admission sample against the fastest one. Returns false if there is no admission
/// sample, if the strategy is exhaustive or if the race is past its racing phase.
bool compare_admissions(RaceState& state);

/// Bets on each sample of the round against the leader's. `off`: whether the round's sentinel was
/// off.
void place_bets(const Round& round, bool off, RaceState& state);

/// Eliminates the contenders whose evidence suffices, and returns them. `round`: the number to
/// record as the round of elimination; rounds of the finals continue the count of the race.
std::vector<CandidateId> eliminate(int round, RaceState& state);

/// Chooses the fastest contender as the leader; in the finals, the fastest finalist.
void choose_leader(RaceState& state);

/// Discards the evidence against candidates that lost to the withdrawn one, and takes back their
/// elimination. Returns whether one of them had been eliminated.
bool reinstate_opponents_of(CandidateId withdrawn, RaceState& state);

// What comes next (phases.cpp).

/// Moves the race to its next phase if the current one can end: from the part to the whole problem,
/// from there to the finals, and from the finals to the end.
void advance(RaceState& state);

/// Moves the samples taken so far, which are of the part of the problem, to RacedCandidate::part.
/// Later samples are of the whole problem.
void shelve_part_samples(CandidateList<RacedCandidate>& candidates);

/// Discards the finals and returns to the race, because a candidate that the finals relied on was
/// withdrawn.
void back_to_racing(RaceState& state);

/// The candidates to sample in the next round. Empty: others may still join, or the race is over.
[[nodiscard]] std::vector<CandidateId> next_members(const RaceState& state);

/// Whether a sample of the candidate is kept. The sentinel also takes part in rounds that do not
/// keep its sample.
[[nodiscard]] bool collects(const RaceState& state, CandidateId id);

/// Whether the budget is used up and the round under way need not be finished.
[[nodiscard]] bool may_abandon_round(const RaceState& state);

/// Makes the results, in the order of `candidates`, with their places. Finalists come first, by the
/// median of their finals; those eliminated in the finals come after the others. The other
/// contenders follow, then the other eliminated candidates, each by the median of the race. A
/// candidate belongs to the tie group before it unless the interval of its paired ratios to the
/// fastest of that group lies above 1. If there are too few pairs for an interval, it belongs
/// unless their medians differ by more than the admission margin. An eliminated candidate is never
/// tied with one that is not.
[[nodiscard]] std::vector<Standing> make_standings(const CandidateList<RacedCandidate>& candidates,
                                                   const RacePolicy& policy,
                                                   StopReason stopped_because);

}  // namespace fatune
