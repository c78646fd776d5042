#pragma once

#include <string>
#include <vector>

#include "app/option_groups.hpp"
#include "core/exit_code.hpp"
#include "core/sanitizer.hpp"

namespace fatune {

/// Options of `check`. `policy.seed` is the first seed.
struct CheckOptions : MeasureOptions {
  std::vector<std::string> configs;  ///< instead of a space
  int seeds = 1;
  bool small = false;                     ///< the small problem in place of the full one
  std::vector<SanitizerTool> sanitizers;  ///< every configuration runs under these too
};

/// Checks that configurations compute the right results on every kind of input. Ranks nothing.
[[nodiscard]] ExitCode check(const CheckOptions& options);

}  // namespace fatune
