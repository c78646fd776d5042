#pragma once

#include <deque>
#include <optional>
#include <random>
#include <vector>

#include "race/runner.hpp"

namespace fatune {

struct RoundSample {
  RunnerId candidate = 0;
  double time_us = 0.0;
  bool throttled = false;  ///< kept, because its retakes were used up
};

/// One sample of each member, in shuffled order. A throttled sample is thrown away and its
/// candidate put at the end of the queue, a bounded number of times.
class Round {
 public:
  Round(std::vector<RunnerId> members, int most_sample_retakes, std::mt19937_64& random);

  /// The candidate whose sample is next; nothing when all are taken.
  [[nodiscard]] std::optional<RunnerId> next() const;
  /// The sample of next(). Returns whether it was kept. Precondition: next().
  bool record(double time_us, bool throttled);
  /// The member leaves, with its sample.
  void drop(RunnerId member);
  /// Forgets all samples, and shuffles anew.
  void restart(std::mt19937_64& random);

  [[nodiscard]] const std::vector<RoundSample>& samples() const { return samples_; }
  [[nodiscard]] std::optional<double> time_us_of(RunnerId member) const;
  [[nodiscard]] int times_restarted() const { return times_restarted_; }

 private:
  struct Waiting {
    RunnerId candidate;
    int retakes;
  };

  void line_up(std::mt19937_64& random);

  std::vector<RunnerId> members_;
  int most_sample_retakes_;
  std::deque<Waiting> queue_;
  std::vector<RoundSample> samples_;
  int times_restarted_ = 0;
};

}  // namespace fatune
