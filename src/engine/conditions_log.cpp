#include "engine/conditions_log.hpp"

#include <algorithm>

#include "core/mapped.hpp"
#include "core/statistics.hpp"

namespace fatune {
namespace {

template <double GpuReading::*kMember>
std::vector<double> sorted(const std::vector<GpuReading>& readings) {
  std::vector<double> values = mapped(readings, kMember);
  std::ranges::sort(values);
  return values;
}

}  // namespace

std::optional<GpuConditions> ConditionsLog::summary() const {
  if (readings_.empty()) {
    return std::nullopt;
  }
  const auto clocks = sorted<&GpuReading::sm_mhz>(readings_);
  const auto power = sorted<&GpuReading::power_w>(readings_);
  const auto temperature = sorted<&GpuReading::temperature_c>(readings_);
  std::uint32_t limits = 0;
  for (const GpuReading& reading : readings_) {
    limits |= reading.clock_limits;
  }
  GpuConditions conditions;
  conditions.readings = static_cast<std::int64_t>(readings_.size());
  conditions.sm_mhz_min = clocks.front();
  conditions.sm_mhz_median = median_of_sorted(clocks);
  conditions.sm_mhz_max = clocks.back();
  conditions.power_w_median = median_of_sorted(power);
  conditions.power_w_max = power.back();
  conditions.temperature_c_max = temperature.back();
  conditions.throttle_reasons = clock_limit_names(limits);
  return conditions;
}

}  // namespace fatune
