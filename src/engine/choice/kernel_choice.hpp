#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/file_tree.hpp"
#include "model/config.hpp"
#include "model/device_limits.hpp"
#include "model/options.hpp"
#include "model/report.hpp"
#include "plan/family.hpp"
#include "plan/problem_plan.hpp"
#include "plan/space.hpp"

namespace fatune {

/// The kernels that a command works with, and the files that they came from.
struct KernelSet {
  FileTree tree;
  FamilySet families;

  /// Returns the only family. Precondition: there is only one, as choose_kernels() ensures.
  [[nodiscard]] const Family& family() const { return families.all().front(); }
};

/// What families may use besides what is in their folders.
[[nodiscard]] inline FamilyOptions family_options(const KernelOptions& options) {
  return {IncludePaths(options.include_dirs), options.allowed_options};
}

/// The value of KernelOptions::family that names no family. An empty value means the same.
inline constexpr const char* kEveryFamily = "auto";
[[nodiscard]] inline bool names_families(const KernelOptions& options) {
  return !options.family.empty() && options.family != kEveryFamily;
}

/// Lays the user's folders over the built-in files and loads one family. It is the named family,
/// else the one that parses the first of `configs`, if there are any, else the only one that the
/// folders hold, else the built-in one that has the requested space, else flash_sm80. Throws
/// Error(usage) if the folders add several families, or if several families parse the
/// configuration.
[[nodiscard]] KernelSet choose_kernels(const KernelOptions& options,
                                       const std::vector<std::string>& configs = {});

/// Chooses the families of a command that takes several: the named ones, joined by kJoin, else
/// those that the folders add, else those that they replace, else all built-in ones.
[[nodiscard]] KernelSet choose_families(const KernelOptions& options);

/// Chooses the kernels of a stored run: its families, or those of them that the options name.
/// Throws Error(usage) if the options name only other families.
[[nodiscard]] KernelSet choose_families_of(const RunReport& run, KernelOptions options);

/// Loads the space that the options or the environment name for the only family.
[[nodiscard]] Space choose_space(const KernelSet& kernels, const KernelOptions& options);

/// The space that each family is tried over, by family name.
using FamilySpaces = std::map<std::string, Space>;

/// Loads each family's default space. If the options or the environment name spaces (joined by
/// kJoin), loads the first of them that the family has, and drops families that have none. Throws
/// Error(usage) if such a family was named by the user, and if no family has one of the spaces.
[[nodiscard]] FamilySpaces choose_spaces(KernelSet& kernels, const KernelOptions& options);
/// Returns the keys of the spaces in the families' order, without duplicates, joined by kJoin.
[[nodiscard]] std::string space_keys(const FamilySet& families, const FamilySpaces& spaces);

/// Parses configurations as typed, in order, without duplicates. Throws Error(usage) for one that
/// does not parse, and for one that its family cannot build, with the rule that it breaks.
[[nodiscard]] std::vector<Config> parse_configs(const FamilySet& families,
                                                const std::vector<std::string>& texts);

// The configuration that percentages refer to, when the user names one.

/// Parses the baseline. Returns nothing without a text. Throws Error(usage) if the text does not
/// parse, or if the configuration is planned for no problem.
[[nodiscard]] std::optional<Config> planned_baseline(const FamilySet& families,
                                                     const std::vector<ProblemPlan>& problems,
                                                     const std::optional<std::string>& text);

[[noreturn]] void fail_unplanned_baseline(const Family& family, const Config& baseline,
                                          const std::string& remedy);

/// Returns a note for each problem whose ranking lacks the baseline: the reason, and what
/// percentages refer to instead.
[[nodiscard]] std::vector<std::string> baseline_notes(const RunReport& report,
                                                      const std::optional<Config>& baseline);

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
