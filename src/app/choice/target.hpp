#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/option_groups.hpp"
#include "core/device_limits.hpp"
#include "data/file_tree.hpp"
#include "plan/family.hpp"
#include "report/report.hpp"

namespace fatune {

struct TargetGpu {
  int ordinal = 0;
  std::string uuid;
};

/// The device that a command compiles for and, with GPUs, measures on.
struct Target {
  DeviceLimits limits;  ///< limits of one of the GPUs; limits.arch is the target of compilation
  std::vector<TargetGpu> gpus;   ///< all are of one model; empty: nothing will be timed
  std::string why_not_measured;  ///< one sentence; empty with a GPU
  std::string product;           ///< the GPU whose limits and rates count; empty with a GPU

  [[nodiscard]] bool measured() const { return !gpus.empty(); }
};

/// Returns the requested GPUs, one target for each model, in the order of the GPUs. If none is
/// requested, returns the first usable GPU, else an architecture to estimate for, as
/// offline_target() chooses it. Never empty. Throws Error(no_gpu) if a GPU is required or requested
/// and cannot be used. Throws Error(usage) if the requested architecture does not run on it, or is
/// unknown to NVRTC or fatune.
[[nodiscard]] std::vector<Target> choose_targets(const TargetOptions& options, const FileTree& tree,
                                                 std::span<const Family> families);

/// Returns the architecture that `--arch` means for the families. If one of them needs the
/// architecture's name with a suffix, that one (sm_90a for sm_90); the first call that adds a
/// suffix warns. If `arch` is absent: sm_90a, which an H100 and an H200 are, or what the families
/// need if it runs fewer of them.
[[nodiscard]] Arch arch_meant(std::optional<Arch> arch, std::span<const Family> families);

/// Returns the architecture that arch_meant() chooses, without a GPU.
[[nodiscard]] Target offline_target(std::optional<Arch> arch, const FileTree& tree,
                                    std::span<const Family> families);

/// Whether machine code for `code` runs on a GPU of architecture `gpu`: the same major version, and
/// no newer minor version. Architecture-specific code runs only on its own architecture.
[[nodiscard]] bool runs_on(Arch code, Arch gpu);

[[nodiscard]] Toolchain toolchain_in_use(const Target& target);

}  // namespace fatune
