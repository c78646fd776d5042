#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <random>
#include <vector>

#include "model/candidate_list.hpp"
#include "race/race_policy.hpp"

namespace fatune {

struct RoundSample {
  CandidateId candidate{};
  double time_us = 0.0;
  bool throttled = false;  ///< throttled but kept, because its retakes were used up
};

/// One sample of each member, in shuffled order. A throttled sample is discarded and its candidate
/// goes to the end of the queue, a bounded number of times.
class Round {
 public:
  Round(std::vector<CandidateId> members, int most_sample_retakes, std::mt19937_64& random);

  /// The candidate to sample next. Empty: all samples are taken.
  [[nodiscard]] std::optional<CandidateId> next() const {
    return queue_.empty() ? std::nullopt : std::optional(queue_.front().candidate);
  }
  /// The candidate after next(), provided that the sample of next() does not change the queue.
  /// Empty: there is none.
  [[nodiscard]] std::optional<CandidateId> after_next() const {
    return queue_.size() < 2 ? std::nullopt : std::optional(queue_[1].candidate);
  }
  /// Records the sample of next(). Returns whether it was kept. Precondition: next() is not empty.
  bool record(double time_us, bool throttled);
  /// Removes the member and its sample.
  void drop(CandidateId member);
  /// Discards all samples and shuffles the members anew.
  void restart(std::mt19937_64& random);

  [[nodiscard]] const std::vector<RoundSample>& samples() const { return samples_; }
  [[nodiscard]] std::optional<double> time_us_of(CandidateId member) const;
  [[nodiscard]] int times_restarted() const { return times_restarted_; }

 private:
  struct Waiting {
    CandidateId candidate{};
    int retakes;
  };

  void line_up(std::mt19937_64& random);

  std::vector<CandidateId> members_;
  int most_sample_retakes_;
  std::deque<Waiting> queue_;
  std::vector<RoundSample> samples_;
  int times_restarted_ = 0;
};

/// The samples of the one candidate that is in every round. Changes in them show changes of the
/// chip.
class Sentinel {
 public:
  explicit Sentinel(double tolerance) : tolerance_(tolerance) {}

  /// Adds the sentinel's time in an accepted round.
  void add(double time_us) { taken_us_.push_back(time_us); }
  /// Whether the time is further than the tolerance from the median of the last nine accepted
  /// samples. False while fewer than five are known. With nine, a lasting change of the clocks is
  /// accepted as usual after five rounds.
  [[nodiscard]] bool is_off(double time_us) const;
  /// How much slower the last quarter of the samples is than the first, in percent of the first, by
  /// their medians. Each quarter has at least three samples; 0 while there are fewer than six
  /// samples.
  [[nodiscard]] double drift_percent() const;

 private:
  double tolerance_;
  std::vector<double> taken_us_;
};

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
  [[nodiscard]] bool may_retake(const RacePolicy& policy) const {
    return round_->times_restarted() < policy.most_round_retakes &&
           retaken_rounds_ < policy.most_retaken_rounds;
  }
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
