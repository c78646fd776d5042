#pragma once

#include <filesystem>

namespace fatune {

/// A new folder among the system's temporary files. The destructor removes it with its content.
class ScratchFolder {
 public:
  /// Throws Error(io) if it cannot be made.
  ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder();
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace fatune
