#include "engine/common_clock.hpp"

#include <algorithm>

#include "core/statistics.hpp"

namespace fatune {

double CommonClock::at_first_clock(double us, const std::optional<GpuReading>& reading,
                                   bool on_part) {
  if (reading && reading->sm_mhz > 0.0) {
    last_mhz_ = reading->sm_mhz;
  }
  if (last_mhz_ == 0.0) {
    return us;
  }
  if (first_mhz_ == 0.0) {
    first_mhz_ = last_mhz_;
  }
  (on_part ? part_mhz_ : whole_mhz_).push_back(last_mhz_);
  return us * last_mhz_ / first_mhz_;
}

double CommonClock::median_mhz() const {
  std::vector<double> sorted_mhz = whole_mhz_.empty() ? part_mhz_ : whole_mhz_;
  std::ranges::sort(sorted_mhz);
  return sorted_mhz.empty() ? 0.0 : median_of_sorted(sorted_mhz);
}

void CommonClock::bring_to_median(RaceResult& result) const {
  const double mhz = median_mhz();
  const double factor = mhz > 0.0 ? first_mhz_ / mhz : 1.0;
  for (Standing& standing : result.standings) {
    scale(factor, standing.timing);
  }
}

}  // namespace fatune
