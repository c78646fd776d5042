#include "core/gpu_reading.hpp"

#include <fmt/format.h>

namespace fatune {
namespace {

struct ClockLimit {
  std::uint32_t bit;
  const char* name;
  bool throttles;
};

// source: nvml.h, nvmlClocksEventReason*
constexpr ClockLimit kClockLimits[] = {{0x001, "gpu_idle", false},
                                       {0x002, "applications_clocks_setting", false},
                                       {0x004, "sw_power_cap", false},
                                       {0x008, "hw_slowdown", true},
                                       {0x010, "sync_boost", true},
                                       {0x020, "sw_thermal_slowdown", true},
                                       {0x040, "hw_thermal_slowdown", true},
                                       {0x080, "hw_power_brake_slowdown", true},
                                       {0x100, "display_clock_setting", false}};

}  // namespace

bool is_throttled(const GpuReading& reading) {
  std::uint32_t others = reading.clock_limits;
  for (const ClockLimit& limit : kClockLimits) {
    others &= limit.throttles ? ~0U : ~limit.bit;
  }
  return others != 0;
}

std::vector<std::string> clock_limit_names(std::uint32_t clock_limits) {
  std::vector<std::string> names;
  for (const ClockLimit& limit : kClockLimits) {
    if ((clock_limits & limit.bit) != 0) {
      names.emplace_back(limit.name);
      clock_limits &= ~limit.bit;
    }
  }
  for (std::uint32_t bit = 1; clock_limits != 0; bit <<= 1U) {
    if ((clock_limits & bit) != 0) {
      names.push_back(fmt::format("{:#x}", bit));
      clock_limits &= ~bit;
    }
  }
  return names;
}

}  // namespace fatune
