#pragma once

#include <string_view>

namespace fatune {

/// The users who may read the GPU's performance counters.
enum class CounterAccess {
  unknown,  ///< no NVIDIA kernel module says so
  everybody,
  admins_only,  ///< and this user is none
};

[[nodiscard]] CounterAccess counter_access();

/// The access that the text of /proc/driver/nvidia/params gives to root or another user.
[[nodiscard]] CounterAccess counter_access(std::string_view module_parameters, bool is_root);

}  // namespace fatune
