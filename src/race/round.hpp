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
  bool throttled = false;  ///< kept, because its retakes were used up
};

/// One sample of each member, in shuffled order. A throttled sample is thrown away and its
/// candidate put at the end of the queue, a bounded number of times.
class Round {
 public:
  Round(std::vector<CandidateId> members, int most_sample_retakes, std::mt19937_64& random);

  /// The candidate whose sample is next; nothing when all are taken.
  [[nodiscard]] std::optional<CandidateId> next() const;
  /// The candidate after next(), unless the sample of next() changes the queue. Empty: there is
  /// none.
  [[nodiscard]] std::optional<CandidateId> after_next() const;
  /// The sample of next(). Returns whether it was kept. Precondition: next().
  bool record(double time_us, bool throttled);
  /// The member leaves, with its sample.
  void drop(CandidateId member);
  /// Forgets all samples, and shuffles anew.
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
