#pragma once

#include <map>
#include <string>
#include <vector>

#include "app/option_groups.hpp"
#include "core/config.hpp"
#include "data/file_tree.hpp"
#include "plan/family.hpp"
#include "plan/space.hpp"
#include "report/report.hpp"

namespace fatune {

/// The kernels that a command works with, and the files that they came from.
struct KernelSet {
  FileTree tree;
  FamilySet families;

  /// Returns the only family. Precondition: there is only one, as choose_kernels() ensures.
  [[nodiscard]] const Family& family() const { return families.all().front(); }
};

/// What families may use besides what is in their folders.
[[nodiscard]] FamilyOptions family_options(const KernelOptions& options);

/// The value of KernelOptions::family that names no family. An empty value means the same.
inline constexpr const char* kEveryFamily = "auto";
[[nodiscard]] bool names_families(const KernelOptions& options);

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

}  // namespace fatune
