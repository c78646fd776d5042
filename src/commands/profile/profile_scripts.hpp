#pragma once

#include <filesystem>
#include <vector>

#include "commands/profile/profile_cases.hpp"

namespace fatune {

/// Writes scripts (bash, executable) that profile the plan on another machine, such as a cluster's
/// node: one for Nsight Compute (all its sections, raw and text reports) for each configuration and
/// problem, one for Nsight Systems for each problem, and one that runs them all. They call fatune
/// (or what FATUNE names) and say how to submit them. Returns their paths, in that order. Throws
/// Error(io) if they cannot be written.
std::vector<std::filesystem::path> write_profile_scripts(const ProfileOptions& options,
                                                         const ProfilePlan& plan,
                                                         const std::filesystem::path& folder);

}  // namespace fatune
