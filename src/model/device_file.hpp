#pragma once

#include <string>
#include <vector>

#include "base/file_tree.hpp"
#include "model/device_limits.hpp"

namespace fatune {

/// Loads the limits of a representative GPU of `arch` from configs/devices/sm_<number>.json, for
/// planning, compiling and estimating without it. `name` is "sm_90 (no GPU)"; `arch` is the
/// requested one. Error(usage) lists the known architectures if there is no such file.
[[nodiscard]] DeviceLimits load_device_limits(const FileTree& tree, Arch arch);

/// The product name of that GPU: "NVIDIA H200 SXM". Throws as load_device_limits() does.
[[nodiscard]] std::string device_product(const FileTree& tree, Arch arch);

/// Loads what an SM of `arch` does per clock, from the same files. An architecture without a file
/// has the rates of the nearest older one that has a file. Error(usage) as above if there is none.
[[nodiscard]] SmRates load_sm_rates(const FileTree& tree, Arch arch);

/// Architectures with a device file, oldest first.
[[nodiscard]] std::vector<Arch> known_archs(const FileTree& tree);

}  // namespace fatune
