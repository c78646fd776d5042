#pragma once

#include <filesystem>

namespace fatune {

/// The number of cores that this process may use, at least 1: those of its CPU affinity, but no
/// more than the CPU time that its control groups (version 1 or 2) grant it, rounded up.
/// `root`: the folder that has proc/self/cgroup and sys/fs/cgroup.
[[nodiscard]] int usable_cores(const std::filesystem::path& root = "/");

}  // namespace fatune
