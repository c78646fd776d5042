#pragma once

#include <filesystem>

namespace fatune {

/// A new folder among the system's temporary files, removed again with all that is in it.
class ScratchFolder {
 public:
  /// Error(io) when it cannot be made.
  ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder();
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace fatune
