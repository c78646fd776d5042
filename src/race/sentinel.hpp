#pragma once

#include <vector>

namespace fatune {

/// The samples of the one candidate that is in every round: what they do, the chip does.
class Sentinel {
 public:
  explicit Sentinel(double tolerance) : tolerance_(tolerance) {}

  /// Adds the sentinel's time in an accepted round.
  void add(double time_us) { taken_us_.push_back(time_us); }
  /// Further than the tolerance from the median of the last nine accepted samples; never before
  /// five are known. Nine: a lasting change of the clocks is believed after five rounds.
  [[nodiscard]] bool is_off(double time_us) const;
  /// By how much the last quarter of the samples is slower than the first, by their medians; at
  /// least three samples each, 0 while there are fewer than six.
  [[nodiscard]] double drift_percent() const;

 private:
  double tolerance_;
  std::vector<double> taken_us_;
};

}  // namespace fatune
