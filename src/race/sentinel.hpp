#pragma once

#include <vector>

namespace fatune {

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

}  // namespace fatune
