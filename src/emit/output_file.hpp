#pragma once

#include <filesystem>
#include <string_view>

namespace fatune {

/// Writes a whole file or leaves what was there: a temporary file beside it, then a rename; an
/// existing file keeps its mode and, where the system allows it, its owner. Symbolic links are
/// followed. A path that is not a regular file (a device, a FIFO) is opened and written, and waits
/// for its reader. Missing folders are made. Error(io) names the path and the system's reason.
void write_output_file(const std::filesystem::path& path, std::string_view bytes);

/// Throws what write_output_file would throw, as far as that is known in advance: the folder cannot
/// be made or written, or `path` is a folder. Leaves the file unchanged, and opens no device or
/// FIFO.
void check_output_file(const std::filesystem::path& path);

/// False for a device, a FIFO and an open descriptor, where each write adds to the earlier ones.
[[nodiscard]] bool can_be_rewritten(const std::filesystem::path& path);

}  // namespace fatune
