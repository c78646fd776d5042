#pragma once

#include <filesystem>
#include <vector>

#include "app/profile/profile_cases.hpp"

namespace fatune {

/// Writes scripts (bash, executable) that profile the plan on another machine, such as a cluster's
/// node: for each configuration and problem one for Nsight Compute (all its sections, raw and text
/// reports), for each problem one for Nsight Systems, and one that runs them all. They call fatune
/// (or what FATUNE names) and say how they are submitted. Returns their paths, in that order.
/// Error(io) when they cannot be written.
std::vector<std::filesystem::path> write_profile_scripts(const ProfileOptions& options,
                                                         const ProfilePlan& plan,
                                                         const std::filesystem::path& folder);

}  // namespace fatune
