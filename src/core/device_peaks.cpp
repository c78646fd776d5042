#include "core/device_peaks.hpp"

namespace fatune {

std::optional<double> nominal_tensor_flop_per_clock(Arch arch) {
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
    case 100:
    case 103:
      return 8192.0;
    default:
      return std::nullopt;
  }
}

double peak_tensor_flop_per_clock(Arch arch) {
  constexpr double kGreatest = 8192.0;
  return nominal_tensor_flop_per_clock(arch).value_or(kGreatest);
}

double peak_tensor_flop_per_us(const DeviceLimits& limits) {
  return peak_tensor_flop_per_clock(limits.arch) * limits.sm_count * (limits.clock_khz / 1e3);
}

}  // namespace fatune
