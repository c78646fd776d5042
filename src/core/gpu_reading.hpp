#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "core/members.hpp"

namespace fatune {

/// The reading of the GPU's management library (NVML) at a sample; values that it did not report
/// are 0.
struct GpuReading {
  double sm_mhz = 0.0;
  double power_w = 0.0;
  double temperature_c = 0.0;
  /// Bits of NVML's clocks event ("throttle") reasons, of this reading and of all since the last
  /// sample.
  std::uint32_t clock_limits = 0;

  auto operator<=>(const GpuReading&) const = default;
};
FATUNE_MEMBERS(GpuReading, sm_mhz, power_w, temperature_c, clock_limits)

/// Something holds the clocks down that does not do so all the time: any reason but idle, the
/// applications' clocks setting, the display clock and the (software) power cap.
[[nodiscard]] bool is_throttled(const GpuReading& reading);

/// "sw_power_cap", "hw_slowdown", ...: NVML's names, in the order of their bits. Bits that are not
/// known are "0x200" and so on.
[[nodiscard]] std::vector<std::string> clock_limit_names(std::uint32_t clock_limits);

}  // namespace fatune
