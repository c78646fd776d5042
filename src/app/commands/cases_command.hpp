#pragma once

#include <string>

#include "app/option_groups.hpp"
#include "core/exit_code.hpp"

namespace fatune {

struct CasesOptions : MeasureOptions {
  std::string cases;  ///< key or file
};

/// Variants of a kernel, each tuned by itself, beside each other.
[[nodiscard]] ExitCode cases(const CasesOptions& options);

}  // namespace fatune
