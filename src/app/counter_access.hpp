#pragma once

#include <string_view>

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

}  // namespace fatune
