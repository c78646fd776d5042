#pragma once

#include <string>

#include "app/option_groups.hpp"
#include "core/exit_code.hpp"

namespace fatune {

struct CasesOptions : MeasureOptions {
  std::string cases;  ///< key or file
};

/// Tunes the variants of a kernel separately, and compares them.
[[nodiscard]] ExitCode cases(const CasesOptions& options);

}  // namespace fatune
