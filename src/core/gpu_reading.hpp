#pragma once

#include <compare>
#include <cstdint>

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

}  // namespace fatune
