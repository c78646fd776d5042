#pragma once

#include <string>
#include <vector>

#include "app/option_groups.hpp"
#include "core/exit_code.hpp"
#include "core/sanitizer.hpp"

namespace fatune {

/// Whether configurations compute the right thing. `policy.seed` is the first seed.
struct CheckOptions : MeasureOptions {
  std::vector<std::string> configs;  ///< instead of a space
  int seeds = 1;
  bool small = false;  ///< the documented small problem in place of the documented full one
  std::vector<SanitizerTool> sanitizers;  ///< that every configuration is run under too
};

/// Whether configurations compute the right thing, on every kind of input; nothing is ranked.
[[nodiscard]] ExitCode check(const CheckOptions& options);

}  // namespace fatune
