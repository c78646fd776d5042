#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/journal_event.hpp"

namespace fatune {

/// Something holds the clocks down that does not do so all the time: any reason but idle, the
/// applications' clocks setting, the display clock and the (software) power cap.
[[nodiscard]] bool is_throttled(const GpuReading& reading);

/// "sw_power_cap", "hw_slowdown", ...: NVML's names, in the order of their bits. Bits that are not
/// known are "0x200" and so on.
[[nodiscard]] std::vector<std::string> clock_limit_names(std::uint32_t clock_limits);

}  // namespace fatune
