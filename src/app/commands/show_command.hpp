#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "app/option_groups.hpp"
#include "core/exit_code.hpp"

namespace fatune {

struct ShowOptions {
  std::optional<std::filesystem::path> db_file;
  std::optional<std::int64_t> run;  ///< absent: the run that began last
  bool plot = false;                ///< print the main figures too
  OutputOptions output;
};

/// Prints a stored run as its command printed it.
[[nodiscard]] ExitCode show(const ShowOptions& options);

}  // namespace fatune
