#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "app/option_groups.hpp"
#include "core/exit_code.hpp"

namespace fatune {

struct SassWhyOptions : OfflineOptions {
  std::optional<std::filesystem::path> db_file;
  bool with_run = false;            ///< use a stored run instead of a space
  std::optional<std::int64_t> run;  ///< absent: the run that began last
};

/// Shows the effect of parameters on the machine code, and its correlation with measured times.
[[nodiscard]] ExitCode sass_why(const SassWhyOptions& options);

}  // namespace fatune
