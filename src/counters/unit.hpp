#pragma once

#include <string_view>

namespace fatune {

/// The factor from `unit`, as a profiler writes it, to base units: time in ns, amounts in bytes,
/// rates in hz, bytes per second and so on. Profilers of different years write "us" and "usecond",
/// "byte/s" and "byte/second". The factor is 1 for units without multiples ("%", "cycle").
[[nodiscard]] double base_unit_factor(std::string_view unit);

}  // namespace fatune
