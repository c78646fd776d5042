#pragma once

#include <string>
#include <string_view>

#include "core/error.hpp"

namespace fatune {

/// Tells from its messages why Nsight Compute has profiled nothing, and what to do: no permission
/// to read counters (ERR_NVGPUCTRPERM), an unsupported GPU, counters that another program holds, an
/// unknown metric or section, or no launch seen; else its errors as they are. `where`: the command
/// or file concerned.
[[nodiscard]] Error ncu_failure(std::string_view messages, const std::string& where);

/// Whether the messages contain an error.
[[nodiscard]] bool has_ncu_errors(std::string_view messages);

/// The remedy for counters that an ordinary user may not read.
[[nodiscard]] std::string counter_permission_remedy();

/// The version in the output of `ncu --version`, "2025.3.1.0"; empty: there is none.
[[nodiscard]] std::string ncu_version(std::string_view text);

}  // namespace fatune
