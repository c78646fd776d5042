#pragma once

#include <map>
#include <string>
#include <vector>

#include "app/option_groups.hpp"
#include "core/config.hpp"
#include "data/file_tree.hpp"
#include "plan/family.hpp"
#include "plan/family_set.hpp"
#include "plan/space.hpp"
#include "report/report.hpp"

namespace fatune {

/// The kernels that a command works with, and the files that they came from.
struct KernelSet {
  FileTree tree;
  FamilySet families;

  /// Precondition: there is only one, as choose_kernels() chooses it.
  [[nodiscard]] const Family& family() const { return families.all().front(); }
};

/// KernelOptions::family for every family that can do it; so does an empty one.
inline constexpr const char* kEveryFamily = "auto";
[[nodiscard]] bool names_families(const KernelOptions& options);

/// Lays the user's folders over the built-in files and loads one family: the one named; else the
/// one that reads the first of `configs`, when there are some; else the only one that the folders
/// hold; else the built-in one that has the space asked for; else flash_sm80. Error(usage) when the
/// folders add several, or several read the configuration.
[[nodiscard]] KernelSet choose_kernels(const KernelOptions& options,
                                       const std::vector<std::string>& configs = {});

/// Chooses the families of a command that takes several: those that are named, joined by kJoin;
/// else those that the folders add or, without that, replace; else all that are built in.
[[nodiscard]] KernelSet choose_families(const KernelOptions& options);

/// The kernels of a stored run: its families, or those of them that the options name. Error(usage)
/// when they name others only.
[[nodiscard]] KernelSet choose_families_of(const RunReport& run, KernelOptions options);

/// The space that options and environment name for the only family.
[[nodiscard]] Space choose_space(const KernelSet& kernels, const KernelOptions& options);

/// By family, what it is tried over.
using FamilySpaces = std::map<std::string, Space>;

/// For each family its own default space; or, where options or environment name some (joined by
/// kJoin), the first of these that it has: a family that has none of them is dropped. Error(usage)
/// when that one had been named, and when a space is none's.
[[nodiscard]] FamilySpaces choose_spaces(KernelSet& kernels, const KernelOptions& options);
/// Their keys in the families' order, each once, joined by kJoin.
[[nodiscard]] std::string space_keys(const FamilySet& families, const FamilySpaces& spaces);

/// Configurations as typed, in order, without duplicates. Error(usage) for one that does not parse
/// or that its family cannot build: the message says which rule it breaks.
[[nodiscard]] std::vector<Config> parse_configs(const FamilySet& families,
                                                const std::vector<std::string>& texts);

}  // namespace fatune
