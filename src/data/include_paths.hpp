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

  /// The first file of that name; nothing if there is none.
  [[nodiscard]] std::optional<std::filesystem::path> find(const std::string& name) const;
  [[nodiscard]] const std::vector<std::filesystem::path>& folders() const { return folders_; }

 private:
  std::vector<std::filesystem::path> folders_;
};

}  // namespace fatune
