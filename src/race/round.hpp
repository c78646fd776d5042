#pragma once

#include <deque>
#include <optional>
#include <random>
#include <vector>

#include "race/raced_candidate.hpp"

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
  [[nodiscard]] std::optional<CandidateId> next() const;
  /// The candidate after next(), provided that the sample of next() does not change the queue.
  /// Empty: there is none.
  [[nodiscard]] std::optional<CandidateId> after_next() const;
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

}  // namespace fatune
