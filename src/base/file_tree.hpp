#pragma once

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fatune {

/// Read-only view of fatune's data files under their repository paths ("kernels/...",
/// "configs/..."): those embedded in the program, overlaid by the user's kernel folders.
/// Nothing is read before it is asked for. Paths use '/', and never '..'.
class FileTree {
 public:
  /// Lays a folder of kernel families over the tree. `dir` is a family's folder (it has a
  /// family.json) or holds several, as `kernels/` does. A family replaces the one of the same name
  /// as a whole; other sub-folders with files (such as `common`) replace file by file.
  /// Error(bad_file) if `dir` is not a folder, holds no family, or holds too much to be one.
  void overlay_kernels(const std::filesystem::path& dir);

  /// Has links in the families' folders lead into this folder too.
  void allow_links_into(const std::filesystem::path& dir);

  [[nodiscard]] bool contains(std::string_view path) const;
  /// Whether the file comes from one of the user's folders.
  [[nodiscard]] bool is_users(std::string_view path) const;
  /// The file's bytes. Error(bad_file) if there is no such file, it cannot be read, or it is a link
  /// that leads out of the user's folders.
  [[nodiscard]] std::string read(std::string_view path) const;
  /// Paths that start with `prefix`, sorted.
  [[nodiscard]] std::vector<std::string> list(std::string_view prefix) const;
  /// The file's name in messages: its path on disk, or "<built in>/kernels/...".
  [[nodiscard]] std::string origin(std::string_view path) const;

 private:
  [[nodiscard]] std::string read_overlay(const std::filesystem::path& file) const;
  [[nodiscard]] std::string declared_name(const std::filesystem::path& dir) const;
  void overlay_folder(const std::filesystem::path& dir, const std::string& as);

  std::map<std::string, std::filesystem::path, std::less<>> overlay_;
  std::vector<std::filesystem::path> roots_;  ///< the user's folders, without links
  std::vector<std::string> replaced_;         ///< prefixes whose embedded files are hidden
};

/// Reads a file from disk. Error(bad_file) if it cannot be read or is larger than `max_bytes`.
[[nodiscard]] std::string read_disk_file(const std::filesystem::path& path,
                                         std::size_t max_bytes = std::size_t{16} << 20);

/// True if `path` is below `folder`, by their components. Both are absolute and without "..".
[[nodiscard]] inline bool is_within(const std::filesystem::path& path,
                                    const std::filesystem::path& folder) {
  const auto [at_folder, at_path] =
      std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
  return at_folder == folder.end() && at_path != path.end();
}

/// Folders in which #include finds headers that are not a family's: those that the user names, then
/// those of the CUDA installation that NVRTC is taken from (base/cuda_installation.hpp).
class IncludePaths {
 public:
  /// Error(usage) if one is not a folder.
  explicit IncludePaths(const std::vector<std::filesystem::path>& folders = {});

  /// The first file of that name in `beside` (empty: nowhere) or one of the folders; nothing if
  /// there is none. Names that lead out of all folders ("../x.h", "/x.h") find nothing.
  [[nodiscard]] std::optional<std::filesystem::path> find(
      const std::string& name, const std::filesystem::path& beside = {}) const;

 private:
  void add(const std::filesystem::path& folder);

  std::vector<std::filesystem::path> folders_;
};

}  // namespace fatune
