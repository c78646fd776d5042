#pragma once

#include <string>
#include <vector>

#include "app/option_groups.hpp"
#include "core/exit_code.hpp"

namespace fatune {

struct RunOptions : MeasureOptions {
  std::vector<std::string> configs;  ///< short forms or kernel names
  int runs = 1;
};

/// Verifies and times configurations that the user names.
[[nodiscard]] ExitCode run(const RunOptions& options);

}  // namespace fatune
