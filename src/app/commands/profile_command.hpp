#pragma once

#include "app/profile/profile_options.hpp"
#include "core/error.hpp"

namespace fatune {

/// Reads the hardware counters of configurations.
[[nodiscard]] ExitCode profile(const ProfileOptions& options);

}  // namespace fatune
