#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/option_groups.hpp"
#include "core/device_limits.hpp"
#include "data/file_tree.hpp"
#include "report/report.hpp"

namespace fatune {

struct TargetGpu {
  int ordinal = 0;
  std::string uuid;
};

/// The device that a command compiles for and, with GPUs, measures on.
struct Target {
  DeviceLimits limits;           ///< of one of them; limits.arch is what is compiled for
  std::vector<TargetGpu> gpus;   ///< of one model; empty: nothing will be timed
  std::string why_not_measured;  ///< one sentence; empty with a GPU

  [[nodiscard]] bool measured() const { return !gpus.empty(); }
};

/// The GPUs asked for, one target for each model, in the driver's order; else the first usable one;
/// without one an architecture to estimate for, as offline_target() chooses it. Never empty.
/// Error(no_gpu) when a GPU is required or asked for and cannot be used; Error(usage) when the
/// architecture asked for does not run on it, or NVRTC or fatune does not know it.
[[nodiscard]] std::vector<Target> choose_targets(const TargetOptions& options, const FileTree& tree,
                                                 Arch least);

/// An architecture alone. Absent: sm_90, or `least`, that of the kernels (Family::min_arch), where
/// sm_90 does not run them.
[[nodiscard]] Target offline_target(std::optional<Arch> arch, const FileTree& tree, Arch least);

/// Whether machine code for `code` runs on a GPU of `gpu`: the same major version and no newer
/// minor one; architecture-specific code on its very architecture only.
[[nodiscard]] bool runs_on(Arch code, Arch gpu);

[[nodiscard]] Toolchain toolchain_in_use(const Target& target);

}  // namespace fatune
