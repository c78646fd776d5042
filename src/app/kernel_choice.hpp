#pragma once

#include <string>
#include <vector>

#include "app/options.hpp"
#include "core/config.hpp"
#include "data/file_tree.hpp"
#include "plan/family.hpp"
#include "plan/space.hpp"
#include "report/report.hpp"

namespace fatune {

/// The kernels that a command works with, and the files that they came from.
struct KernelChoice {
  FileTree tree;
  Family family;
};

/// Lays the user's folders over the built-in files and loads the family: the one named; else the
/// only one that the folders add; else flash_sm80. Error(usage) when the folders add several.
[[nodiscard]] KernelChoice choose_kernels(const KernelOptions& options);

/// The kernels of a stored run: its family, unless the options name it. Error(usage) when they name
/// another one.
[[nodiscard]] KernelChoice choose_kernels_of(const RunReport& run, KernelOptions options);

/// The space that options and environment name.
[[nodiscard]] Space choose_space(const KernelChoice& kernels, const KernelOptions& options);

/// Configurations as typed, in order, without duplicates. Error(usage) for one that does not parse
/// or that the family cannot build: the message says which rule it breaks.
[[nodiscard]] std::vector<Config> parse_configs(const Family& family,
                                                const std::vector<std::string>& texts);

}  // namespace fatune
