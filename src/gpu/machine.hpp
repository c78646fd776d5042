#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace fatune {

/// The users who may read the GPU's performance counters.
enum class CounterAccess {
  unknown,  ///< no NVIDIA kernel module is loaded
  everybody,
  admins_only,  ///< and this user is not one
};

[[nodiscard]] CounterAccess counter_access();

/// Returns the access that the text of /proc/driver/nvidia/params gives to root or another user.
[[nodiscard]] CounterAccess counter_access(std::string_view module_parameters, bool is_root);

/// Finds what may disturb measurements: other processes with a context on a GPU, and tools and
/// settings that change how this process uses CUDA.
class Disturbances {
 public:
  /// `uuids`: the GPUs. Precondition: this process has not started a worker yet.
  explicit Disturbances(std::vector<std::string> uuids);

  /// Looks again, warns of what this process has not warned of, and returns everything seen so far,
  /// as sentences.
  [[nodiscard]] const std::vector<std::string>& look();

 private:
  void add(std::string what);

  std::vector<std::string> uuids_;
  std::set<int> before_;  ///< processes on the GPUs before workers were started
  std::vector<std::string> seen_;
};

}  // namespace fatune
