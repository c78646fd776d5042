#pragma once

#include <optional>
#include <string_view>

namespace fatune {

/// Reads a number as programs write it under LC_ALL=C: "1.80", "33,742", "1.5e+06". Returns nothing
/// if `text` is not a number ("no data", "n/a", "nan"), or digits are not grouped by three.
[[nodiscard]] std::optional<double> read_number(std::string_view text);

/// Whether Nsight Compute writes such a number only under another locale: "1,80", "33 742",
/// "1'234.5", or "33.742", because it writes two decimals or six, never three.
[[nodiscard]] bool is_of_other_locale(std::string_view text);

/// The factor from `unit`, as a profiler writes it, to base units: time in ns, amounts in bytes,
/// rates in hz, bytes per second and so on. Profilers of different years write "us" and "usecond",
/// "byte/s" and "byte/second". The factor is 1 for units without multiples ("%", "cycle").
[[nodiscard]] double base_unit_factor(std::string_view unit);

}  // namespace fatune
