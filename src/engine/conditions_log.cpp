#include "engine/conditions_log.hpp"

#include <algorithm>
#include <span>

#include "core/ranges.hpp"
#include "core/statistics.hpp"

namespace fatune {
namespace {

using Readings = std::span<const GpuReading>;

template <double GpuReading::*kMember>
std::vector<double> sorted(Readings readings) {
  std::vector<double> values = mapped(readings, kMember);
  std::ranges::sort(values);
  return values;
}

std::uint32_t all_clock_limits(Readings readings) {
  std::uint32_t limits = 0;
  for (const GpuReading& reading : readings) {
    limits |= reading.clock_limits;
  }
  return limits;
}

GpuReading median_reading(Readings readings) {
  return {median_of_sorted(sorted<&GpuReading::sm_mhz>(readings)),
          median_of_sorted(sorted<&GpuReading::power_w>(readings)),
          median_of_sorted(sorted<&GpuReading::temperature_c>(readings)),
          all_clock_limits(readings)};
}

/// The median readings of consecutive parts, whose lengths differ by at most one reading.
std::vector<GpuReading> timeline_of(Readings readings) {
  constexpr std::size_t kMostParts = 48;
  const std::size_t parts = std::min(kMostParts, readings.size());
  std::vector<GpuReading> timeline;
  for (std::size_t i = 0; i < parts; ++i) {
    const std::size_t begin = readings.size() * i / parts;
    const std::size_t end = readings.size() * (i + 1) / parts;
    timeline.push_back(median_reading(readings.subspan(begin, end - begin)));
  }
  return timeline;
}

}  // namespace

std::optional<GpuConditions> ConditionsLog::summary() const {
  if (readings_.empty()) {
    return std::nullopt;
  }
  const auto clocks = sorted<&GpuReading::sm_mhz>(readings_);
  const auto power = sorted<&GpuReading::power_w>(readings_);
  const auto temperature = sorted<&GpuReading::temperature_c>(readings_);
  GpuConditions conditions;
  conditions.readings = static_cast<std::int64_t>(readings_.size());
  conditions.sm_mhz_min = clocks.front();
  conditions.sm_mhz_median = median_of_sorted(clocks);
  conditions.sm_mhz_max = clocks.back();
  conditions.power_w_median = median_of_sorted(power);
  conditions.power_w_max = power.back();
  conditions.temperature_c_max = temperature.back();
  conditions.throttle_reasons = clock_limit_names(all_clock_limits(readings_));
  conditions.timeline = timeline_of(readings_);
  return conditions;
}

}  // namespace fatune
