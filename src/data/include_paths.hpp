#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace fatune {

/// Folders in which #include finds headers that are not a family's: those that the user names, then
/// those of the CUDA installation that NVRTC is taken from (core/cuda_installation.hpp).
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
