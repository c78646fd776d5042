#pragma once

#include "commands/profile/profile_options.hpp"
#include "core/exit_code.hpp"

namespace fatune {

/// Reads the hardware counters of configurations.
[[nodiscard]] ExitCode profile(const ProfileOptions& options);

}  // namespace fatune
