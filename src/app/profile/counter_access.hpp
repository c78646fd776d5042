#pragma once

#include <string_view>

namespace fatune {

/// Who may read the GPU's performance counters.
enum class CounterAccess {
  unknown,  ///< no NVIDIA kernel module says so
  everybody,
  admins_only,  ///< and this user is none
};

[[nodiscard]] CounterAccess counter_access();

/// The same of what /proc/driver/nvidia/params holds, for root or another user.
[[nodiscard]] CounterAccess counter_access(std::string_view module_parameters, bool is_root);

}  // namespace fatune
