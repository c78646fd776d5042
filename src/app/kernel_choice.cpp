#include "app/kernel_choice.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "core/error.hpp"
#include "plan/config_text.hpp"
#include "plan/planner.hpp"
#include "plan/short_form.hpp"

namespace fatune {
namespace {

constexpr const char* kDefaultFamily = "flash_sm80";

std::vector<std::string> families_added(const FileTree& tree) {
  const std::vector<std::string> all = family_names(tree);
  const std::vector<std::string> built_in = family_names(FileTree());
  std::vector<std::string> added;
  std::set_difference(all.begin(), all.end(), built_in.begin(), built_in.end(),
                      std::back_inserter(added));
  return added;
}

std::string choose_family_name(const FileTree& tree, const KernelOptions& options) {
  if (!options.family.empty()) {
    return options.family;
  }
  const std::vector<std::string> added = families_added(tree);
  if (added.size() > 1) {
    throw Error(ExitCode::usage, "several kernel families to choose from", "--kernel-dir",
                fmt::format("choose one with --family: {}", fmt::join(added, ", ")));
  }
  return added.empty() ? kDefaultFamily : added.front();
}

void check_buildable(const Family& family, const Config& config) {
  if (const auto invalid = check_valid(family, config)) {
    throw Error(ExitCode::usage,
                fmt::format("{} cannot build '{}'", family.name, short_form(family, config)),
                "--config", fmt::format("{}: {}", invalid->rule, invalid->reason));
  }
}

}  // namespace

KernelChoice choose_kernels(const KernelOptions& options) {
  FileTree tree;
  for (const auto& dir : options.kernel_dirs) {
    tree.overlay_kernels(dir);
  }
  Family family =
      load_family(tree, choose_family_name(tree, options), IncludePaths(options.include_dirs));
  return {std::move(tree), std::move(family)};
}

KernelChoice choose_kernels_of(const RunReport& run, KernelOptions options) {
  if (options.family.empty()) {
    options.family = run.family;
  }
  KernelChoice choice = choose_kernels(options);
  if (run.family != choice.family.name) {
    throw Error(ExitCode::usage, fmt::format("the run is of family '{}'", run.family), "--run",
                "name it with --family, and its folder with --kernel-dir");
  }
  return choice;
}

Space choose_space(const KernelChoice& kernels, const KernelOptions& options) {
  const std::string key = choose_space(kernels.family, options.space, options.kernels_variable);
  return load_space(kernels.tree, kernels.family, key);
}

std::vector<Config> parse_configs(const Family& family, const std::vector<std::string>& texts) {
  std::vector<Config> configs;
  for (const std::string& text : texts) {
    Config config = parse_config(family, text);
    check_buildable(family, config);
    if (std::find(configs.begin(), configs.end(), config) == configs.end()) {
      configs.push_back(std::move(config));
    }
  }
  return configs;
}

}  // namespace fatune
