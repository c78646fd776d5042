#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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

/// The bytes of a .npy file (version 1.0), which numpy.load() reads: little-endian, C order.
/// shape: the product of `extents` is values.size()
/// source: NumPy, "NEP 1: a simple file format for NumPy arrays"
[[nodiscard]] std::string npy_float64(const std::vector<std::int64_t>& extents,
                                      std::span<const double> values);
/// Like npy_float64(), but with fp32 values: exact for values that were fp32 or narrower.
[[nodiscard]] std::string npy_float32(const std::vector<std::int64_t>& extents,
                                      std::span<const double> values);

}  // namespace fatune
