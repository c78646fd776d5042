#pragma once

#include <string>

#include "core/outcome.hpp"

namespace fatune {

/// Shorter than a clock cycle, and 11 days: nothing beyond these is the time of a kernel, whether
/// measured or estimated.
inline constexpr double kLeastKernelUs = 1e-6;
inline constexpr double kMostKernelUs = 1e12;

/// Whether a number can be the time of a kernel: finite, and within the limits above.
[[nodiscard]] bool is_kernel_time(double us);

/// What is wrong with a time, for messages: "-1 us is not the time of a kernel".
[[nodiscard]] std::string not_a_kernel_time(double us);
/// What would be right, for messages.
[[nodiscard]] const std::string& kernel_times();

/// Checks one time, or all times of an outcome that was read from a file. Error(bad_file) names
/// `where`, or the member, if one is not the time of a kernel. A mean, an extreme and a bound of
/// the median may also be 0 or infinite: they are unknown.
void check_kernel_time(double us, const std::string& where);
void check_kernel_times(const Outcome& outcome);

}  // namespace fatune
