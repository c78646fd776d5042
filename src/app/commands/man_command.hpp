#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "core/exit_code.hpp"

namespace fatune {

/// The text of each manual page, by the name of its file.
using ManualPages = std::map<std::string, std::string>;

/// Writes the pages into the folder, which is made. Error(io).
[[nodiscard]] ExitCode write_manual(const std::filesystem::path& folder, const ManualPages& pages);

}  // namespace fatune
