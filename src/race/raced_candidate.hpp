#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "model/candidate_list.hpp"
#include "model/statistics.hpp"
#include "model/tile_schedule.hpp"
#include "race/race_policy.hpp"

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

}  // namespace fatune
