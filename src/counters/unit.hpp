#pragma once

#include <string_view>

namespace fatune {

/// The factor from `unit`, as a profiler writes it, to base units: time in ns, amounts in bytes,
/// rates per second in hz, bytes and such. Profilers of different years write "us" and "usecond",
/// "byte/s" and "byte/second". 1 for units that have no others ("%", "cycle").
[[nodiscard]] double base_unit_factor(std::string_view unit);

}  // namespace fatune
