#include "core/device_peaks.hpp"

namespace fatune {

double peak_tensor_flop_per_clock(Arch arch) {
  switch (arch.sm) {
    case 80:
    case 87:
      return 2048.0;
    case 86:
    case 89:
    case 120:
    case 121:
      return 1024.0;
    case 90:
      return 4096.0;
    default:
      return 8192.0;
  }
}

double peak_tensor_flop_per_us(const DeviceLimits& limits) {
  return peak_tensor_flop_per_clock(limits.arch) * limits.sm_count * (limits.clock_khz / 1e3);
}

}  // namespace fatune
