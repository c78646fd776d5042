#pragma once

#include <filesystem>
#include <string_view>

namespace fatune {

/// Writes a whole file or leaves what was there: a temporary file beside it, then a rename; an
/// existing file keeps its mode and, where the system allows it, its owner. Symbolic links are
/// followed. A path that is not a regular file (a device, a FIFO) is opened and written, and waits
/// for its reader. Missing folders are made. Error(io) names the path and the system's reason.
void write_output_file(const std::filesystem::path& path, std::string_view bytes);

/// Throws what write_output_file would, as far as it can be known: the folder cannot be made or
/// written, or `path` is a folder. Leaves the file as it is, and opens no device or FIFO.
void check_output_file(const std::filesystem::path& path);

/// False of a device, a FIFO and an open descriptor: each write adds to those before.
[[nodiscard]] bool can_be_rewritten(const std::filesystem::path& path);

}  // namespace fatune
