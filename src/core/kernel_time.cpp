#include "core/kernel_time.hpp"

#include <cmath>
#include <initializer_list>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "core/error.hpp"

namespace fatune {
namespace {

void check_timing(const Timing& timing) {
  check_kernel_time(timing.median_us, "time_us");
  for (const auto& [name, us] : std::initializer_list<std::pair<const char*, double>>{
           {"mean_us", timing.mean_us},
           {"min_us", timing.min_us},
           {"max_us", timing.max_us},
           {"median_low_us", timing.median_low_us},
           {"median_high_us", timing.median_high_us}}) {
    if (us != 0.0 && !std::isinf(us)) {
      check_kernel_time(us, name);
    }
  }
  for (std::size_t i = 0; i < timing.samples_us.size(); ++i) {
    check_kernel_time(timing.samples_us[i], fmt::format("samples_us.{}", i));
  }
}

}  // namespace

bool is_kernel_time(double us) { return us >= kLeastKernelUs && us <= kMostKernelUs; }

std::string not_a_kernel_time(double us) {
  return fmt::format("{} us is not the time of a kernel", us);
}

const std::string& kernel_times() {
  static const std::string text =
      fmt::format("times are finite and above 0: from {} to {} us", kLeastKernelUs, kMostKernelUs);
  return text;
}

void check_kernel_time(double us, const std::string& where) {
  if (!is_kernel_time(us)) {
    throw Error(ExitCode::bad_file, not_a_kernel_time(us), where, kernel_times());
  }
}

void check_kernel_times(const Outcome& outcome) {
  if (const auto* measured = std::get_if<Measured>(&outcome)) {
    check_timing(measured->timing);
  } else if (const auto* estimated = std::get_if<Estimated>(&outcome)) {
    check_kernel_time(estimated->estimate_us, "time_us");
  }
}

}  // namespace fatune
