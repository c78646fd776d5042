#pragma once

#include <filesystem>
#include <string_view>

namespace fatune {

/// Writes a whole file or leaves what was there: a temporary file beside it, then a rename. Missing
/// folders are made. Error(io) names the path and the system's reason.
void write_output_file(const std::filesystem::path& path, std::string_view bytes);

/// Throws what write_output_file would, as far as it can be known: the folder cannot be made or
/// written, or `path` is a folder. Leaves the file as it is.
void check_output_file(const std::filesystem::path& path);

}  // namespace fatune
