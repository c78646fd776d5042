#pragma once

#include <string>
#include <string_view>

#include "core/error.hpp"

namespace fatune {

/// Why Nsight Compute has profiled nothing, from its messages, with what to do: no permission to
/// read counters (ERR_NVGPUCTRPERM), a GPU that it does not support, counters that another program
/// holds, a metric or section that it does not know, no launch that it saw; else its errors as they
/// are. `where`: the command or file that it is about.
[[nodiscard]] Error ncu_failure(std::string_view messages, const std::string& where);

/// Whether it has said that something went wrong.
[[nodiscard]] bool has_ncu_errors(std::string_view messages);

/// The remedy for counters that an ordinary user may not read.
[[nodiscard]] std::string counter_permission_remedy();

/// The version in what `ncu --version` prints, "2025.3.1.0"; empty: it says none.
[[nodiscard]] std::string ncu_version(std::string_view text);

}  // namespace fatune
