#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "core/exit_code.hpp"

namespace fatune {

/// The text of each manual page, by file name.
using ManualPages = std::map<std::string, std::string>;

/// Creates the folder and writes the pages into it. Throws Error(io).
[[nodiscard]] ExitCode write_manual(const std::filesystem::path& folder, const ManualPages& pages);

}  // namespace fatune
