#pragma once

#include <optional>
#include <vector>

#include "core/gpu_reading.hpp"
#include "race/race_result.hpp"

namespace fatune {

/// Scales the samples of a race to one SM clock, so that a clock that changes between launches does
/// not decide between configurations (docs/measurement.md).
class CommonClock {
 public:
  /// The time that a sample would have taken at the clock of the first one. A sample without a
  /// reading counts as taken at the clock of the previous one. `on_part`: whether it is of the part
  /// of the problem.
  [[nodiscard]] double at_first_clock(double us, const std::optional<GpuReading>& reading,
                                      bool on_part);
  /// The median SM clock of the samples of the whole problem, or of its part while there are no
  /// others. 0: no clock is known.
  [[nodiscard]] double median_mhz() const;
  /// Scales times from the first sample's clock to the median clock.
  void bring_to_median(RaceResult& result) const;

 private:
  double first_mhz_ = 0.0;
  double last_mhz_ = 0.0;
  std::vector<double> part_mhz_;
  std::vector<double> whole_mhz_;
};

}  // namespace fatune
