#include "engine/choice/kernel_choice.hpp"

#include <algorithm>
#include <iterator>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.hpp"
#include "base/ranges.hpp"
#include "base/text_parts.hpp"
#include "plan/config_text.hpp"
#include "plan/planner.hpp"

namespace fatune {
namespace {

using Names = std::vector<std::string>;

constexpr const char* kDefaultFamily = "flash_sm80";

FileTree tree_of(const KernelOptions& options) {
  FileTree tree;
  for (const auto& dir : options.include_dirs) {
    tree.allow_links_into(dir);
  }
  for (const auto& dir : options.kernel_dirs) {
    tree.overlay_kernels(dir);
  }
  return tree;
}

Names families_added(const FileTree& tree) {
  const Names all = family_names(tree);
  const Names built_in = family_names(FileTree());
  Names added;
  std::set_difference(all.begin(), all.end(), built_in.begin(), built_in.end(),
                      std::back_inserter(added));
  return added;
}

Names families_replaced(const FileTree& tree) {
  Names names = family_names(tree);
  std::erase_if(names, [&](const std::string& name) {
    return !tree.is_users("kernels/" + name + "/family.json");
  });
  return names;
}

/// Returns the families that the user's folders add, else those that they replace, else all
/// families. kDefaultFamily comes first.
Names families_meant(const FileTree& tree) {
  Names names = families_added(tree);
  names = names.empty() ? families_replaced(tree) : names;
  names = names.empty() ? family_names(tree) : names;
  std::stable_partition(names.begin(), names.end(),
                        [](const std::string& name) { return name == kDefaultFamily; });
  return names;
}

Names split_names(std::string_view text) {
  return mapped(split_at(text, kJoin), [](std::string_view name) { return std::string(name); });
}

Names distinct(const Names& all) {
  Names names;
  for (const std::string& name : all) {
    append_new(names, name);
  }
  return names;
}

FamilySet load_families(const FileTree& tree, const KernelOptions& options, const Names& names) {
  std::vector<Family> families = mapped(names, [&](const std::string& name) {
    return load_family(tree, name, family_options(options));
  });
  return FamilySet(std::move(families));
}

/// Returns the requested spaces, preferred as in choose_space(). Absent: each family's default.
std::optional<std::string> spaces_asked_for(const KernelOptions& options) {
  const bool by_variable = options.kernels_variable && !options.kernels_variable->empty();
  return options.space || !by_variable ? options.space : options.kernels_variable;
}

/// Returns the first family that has the requested space. If no space is requested or no family has
/// it, returns the first family.
std::string family_with_space(const FileTree& tree, const KernelOptions& options,
                              const Names& names) {
  const std::optional<std::string> space = spaces_asked_for(options);
  for (const std::string& name : names) {
    if (!space || has_space(tree, load_family(tree, name, family_options(options)), *space)) {
      return name;
    }
  }
  return names.front();
}

std::string choose_family_name(const FileTree& tree, const KernelOptions& options) {
  if (names_families(options)) {
    return options.family;
  }
  const Names added = families_added(tree);
  if (added.size() > 1) {
    throw Error(ExitCode::usage, "several kernel families to choose from", "--kernel-dir",
                fmt::format("choose one with --family: {}", fmt::join(added, ", ")));
  }
  const Names meant = families_meant(tree);
  if (meant.size() == 1) {
    return meant.front();
  }
  return family_with_space(tree, options, meant);
}

std::string family_reading(const FileTree& tree, const KernelOptions& options,
                           const std::string& config) {
  const Names names = families_meant(tree);
  return names.size() == 1 ? names.front()
                           : parse_config(load_families(tree, options, names), config).family;
}

void check_buildable(const Family& family, const Config& config) {
  if (const auto invalid = check_valid(family, config)) {
    throw Error(ExitCode::usage,
                fmt::format("{} cannot build '{}'", family.name, short_form(family, config)),
                "--config", fmt::format("{}: {}", invalid->rule, invalid->reason));
  }
}

[[noreturn]] void fail_unknown_space(const KernelSet& kernels, const std::string& key) {
  if (is_space_file(key)) {  // the reader's message names the families
    static_cast<void>(load_space(kernels.tree, kernels.families.all().front(), key));
  }
  std::vector<std::string> known;
  for (const Family& family : kernels.families.all()) {
    Names keys = mapped(list_spaces(kernels.tree, family), &SpaceInfo::key);
    known.push_back(fmt::format("{} of {}", fmt::join(keys, ", "), family.name));
  }
  throw Error(
      ExitCode::usage, fmt::format("no family has a space '{}'", key), {},
      fmt::format("spaces: {}; or the path of a file ending in .json", fmt::join(known, "; ")));
}

std::string why_without_time(const Config& baseline, const ProblemReport& problem) {
  const Result* const failed = find_result(problem.failures, baseline);
  return failed == nullptr ? "has no time here"
                           : fmt::format("has no time ({}: {})", outcome_name(failed->outcome),
                                         outcome_summary(failed->outcome));
}

}  // namespace

KernelSet choose_kernels(const KernelOptions& options, const std::vector<std::string>& configs) {
  FileTree tree = tree_of(options);
  const std::string name = names_families(options) || configs.empty()
                               ? choose_family_name(tree, options)
                               : family_reading(tree, options, configs.front());
  FamilySet family = load_families(tree, options, {name});
  return {std::move(tree), std::move(family)};
}

KernelSet choose_families(const KernelOptions& options) {
  FileTree tree = tree_of(options);
  const Names names =
      names_families(options) ? distinct(split_names(options.family)) : families_meant(tree);
  FamilySet families = load_families(tree, options, names);
  return {std::move(tree), std::move(families)};
}

KernelSet choose_families_of(const RunReport& run, KernelOptions options) {
  const Names names = split_names(run.family);
  if (!names_families(options)) {
    options.family = run.family;
  }
  KernelSet kernels = choose_families(options);
  const auto is_of_run = [&](const Family& family) { return is_among(family.name, names); };
  const std::vector<Family>& all = kernels.families.all();
  if (std::ranges::none_of(all, is_of_run)) {
    throw Error(ExitCode::usage, fmt::format("the run is of family '{}'", run.family), "--run",
                "name it with --family, and its folder with --kernel-dir");
  }
  kernels.families.keep_if(is_of_run);
  return kernels;
}

Space choose_space(const KernelSet& kernels, const KernelOptions& options) {
  const Family& family = kernels.family();
  return load_space(kernels.tree, family,
                    choose_space(family, options.space, options.kernels_variable));
}

FamilySpaces choose_spaces(KernelSet& kernels, const KernelOptions& options) {
  FamilySet& families = kernels.families;
  const std::optional<std::string> asked = spaces_asked_for(options);
  FamilySpaces spaces;
  if (!asked || !families.several()) {
    for (const Family& family : families.all()) {
      const std::string key = asked.value_or(family.default_space);
      spaces.emplace(family.name, load_space(kernels.tree, family, key));
    }
    return spaces;
  }
  const Names keys = is_space_file(*asked) ? Names{*asked} : distinct(split_names(*asked));
  std::set<std::string> taken;
  for (const Family& family : families.all()) {
    const auto key = std::ranges::find_if(
        keys, [&](const std::string& one) { return has_space(kernels.tree, family, one); });
    if (key != keys.end()) {
      taken.insert(*key);
      spaces.emplace(family.name, load_space(kernels.tree, family, *key));
    } else if (names_families(options)) {
      throw Error(ExitCode::usage, fmt::format("'{}' holds no space of {}", *asked, family.name),
                  "--space", fmt::format("join one for each family with '{}'", kJoin));
    }
  }
  const auto left =
      std::ranges::find_if(keys, [&](const std::string& key) { return !taken.contains(key); });
  if (left != keys.end()) {
    fail_unknown_space(kernels, *left);
  }
  families.keep_if([&](const Family& family) { return spaces.contains(family.name); });
  return spaces;
}

std::string space_keys(const FamilySet& families, const FamilySpaces& spaces) {
  Names keys =
      mapped(families.all(), [&](const Family& family) { return spaces.at(family.name).key; });
  return fmt::format("{}", fmt::join(distinct(keys), std::string(1, kJoin)));
}

std::vector<Config> parse_configs(const FamilySet& families,
                                  const std::vector<std::string>& texts) {
  std::vector<Config> configs;
  for (const std::string& text : texts) {
    Config config = parse_config(families, text);
    check_buildable(families.of(config), config);
    append_new(configs, std::move(config));
  }
  return configs;
}

std::optional<Config> planned_baseline(const FamilySet& families,
                                       const std::vector<ProblemPlan>& problems,
                                       const std::optional<std::string>& text) {
  if (!text) {
    return std::nullopt;
  }
  Config baseline = parse_config(families, *text);
  if (std::ranges::none_of(problems, [&](const ProblemPlan& problem) {
        return is_among(baseline, problem.configs);
      })) {
    fail_unplanned_baseline(families.of(baseline), baseline,
                            "name it with --config too, or choose a space that keeps it: 'fatune "
                            "list --pruned' with the same options says which configurations are "
                            "kept, and why others are not");
  }
  return baseline;
}

void fail_unplanned_baseline(const Family& family, const Config& baseline,
                             const std::string& remedy) {
  throw Error(
      ExitCode::usage,
      fmt::format("'{}' is not among the planned configurations", short_form(family, baseline)),
      "--baseline", remedy);
}

std::vector<std::string> baseline_notes(const RunReport& report,
                                        const std::optional<Config>& baseline) {
  std::vector<std::string> notes;
  for (const ProblemReport& problem : report.problems) {
    if (baseline && !problem.ranking.empty() &&
        find_result(problem.ranking, *baseline) == nullptr) {
      notes.push_back(fmt::format("{}: the baseline {}; percentages refer to the best, {}",
                                  describe(problem.problem), why_without_time(*baseline, problem),
                                  problem.ranking.front().short_form));
    }
  }
  notes.erase(std::unique(notes.begin(), notes.end()), notes.end());  // runs repeat their notes
  return notes;
}

}  // namespace fatune
