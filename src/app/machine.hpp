#pragma once

#include <filesystem>
#include <string_view>

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

/// The users who may read the GPU's performance counters.
enum class CounterAccess {
  unknown,  ///< no NVIDIA kernel module is loaded
  everybody,
  admins_only,  ///< and this user is not one
};

[[nodiscard]] CounterAccess counter_access();

/// Returns the access that the text of /proc/driver/nvidia/params gives to root or another user.
[[nodiscard]] CounterAccess counter_access(std::string_view module_parameters, bool is_root);

}  // namespace fatune
