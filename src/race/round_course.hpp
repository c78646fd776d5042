#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <vector>

#include "race/race_policy.hpp"
#include "race/round.hpp"
#include "race/sentinel.hpp"

namespace fatune {

/// The rounds of a race, one after another. The fastest candidate of the first round becomes the
/// sentinel, which takes part in every later round.
class RoundCourse {
 public:
  explicit RoundCourse(const RacePolicy& policy)
      : random_(policy.seed), sentinel_samples_(policy.sentinel_tolerance) {}

  /// Begins a round of the candidates and the sentinel, in place of the previous round.
  void begin(std::vector<CandidateId> members, const RacePolicy& policy);
  /// The round under way. Empty: there is none.
  [[nodiscard]] const std::optional<Round>& round() const { return round_; }
  /// Whether a sample of the round under way has been taken.
  [[nodiscard]] bool has_samples() const {
    return round_ && samples_taken_ > samples_before_round_;
  }
  /// Records a sample of round()->next().
  void record(double time_us, bool throttled);
  /// Removes the candidate from the round under way. If it is the sentinel, the race has none
  /// afterwards.
  void drop(CandidateId candidate, const RacePolicy& policy);
  void abandon() { round_.reset(); }
  /// Drops the sentinel; the next accepted round chooses another. Precondition: no round is under
  /// way.
  void forget_sentinel(const RacePolicy& policy);

  /// Whether the sentinel's sample in the round is far from its usual ones.
  [[nodiscard]] bool is_off() const;
  [[nodiscard]] bool may_retake(const RacePolicy& policy) const;
  /// Restarts the round without the losers. The sentinel stays.
  void retake(const std::vector<CandidateId>& losers);
  /// Accepts the round: its samples become the sentinel's latest. Precondition: it has samples.
  void accept();

  [[nodiscard]] std::optional<CandidateId> sentinel() const { return sentinel_; }
  [[nodiscard]] double drift_percent() const { return sentinel_samples_.drift_percent(); }
  [[nodiscard]] std::int64_t samples_taken() const { return samples_taken_; }
  [[nodiscard]] std::int64_t samples_retaken() const { return samples_retaken_; }

 private:
  std::mt19937_64 random_;
  std::optional<Round> round_;
  std::optional<CandidateId> sentinel_;
  Sentinel sentinel_samples_;
  int retaken_rounds_ = 0;
  std::int64_t samples_taken_ = 0;
  std::int64_t samples_before_round_ = 0;
  std::int64_t samples_retaken_ = 0;
};

}  // namespace fatune
