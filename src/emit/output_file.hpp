#pragma once

#include <filesystem>
#include <string_view>

namespace fatune {

/// Writes a whole file or leaves what was there: a temporary file beside it, then a rename. Missing
/// folders are made. Error(io) names the path and the system's reason.
void write_output_file(const std::filesystem::path& path, std::string_view bytes);

}  // namespace fatune
