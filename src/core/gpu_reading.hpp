#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "core/members.hpp"

namespace fatune {

/// What the GPU's management library (NVML) reported at a sample. Values that it did not report are
/// 0.
struct GpuReading {
  double sm_mhz = 0.0;
  double power_w = 0.0;
  double temperature_c = 0.0;
  /// NVML's clocks event ("throttle") reasons as bits: those of this reading and of all readings
  /// since the last sample.
  std::uint32_t clock_limits = 0;

  auto operator<=>(const GpuReading&) const = default;
};
FATUNE_DESCRIBED(
    GpuReading, (sm_mhz, kOrNull, "SM clock in MHz"), (power_w, kOrNull, "power draw in watts"),
    (temperature_c, kOrNull, "temperature in degrees Celsius"),
    (clock_limits,
     "NVML's reasons for lower clocks, as bits: those in force at the reading or since "
     "the last sample"))

/// True if something that is not always present holds the clocks down: any reason except idle, the
/// applications' clocks setting, the display clock and the (software) power cap.
[[nodiscard]] bool is_throttled(const GpuReading& reading);

/// NVML's names in the order of their bits: "sw_power_cap", "hw_slowdown", ... Unknown bits are
/// "0x200" and so on.
[[nodiscard]] std::vector<std::string> clock_limit_names(std::uint32_t clock_limits);

}  // namespace fatune
