#include "engine/choice/rivals.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/cuda_installation.hpp"
#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "base/run_program.hpp"
#include "plan/config_text.hpp"

namespace fatune {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSourceOption = "--against-source";

/// Returns the folder of kernels whose git history is searched for the revision.
fs::path kernel_folder(const KernelOptions& options, const std::string& revision) {
  if (options.kernel_dirs.size() == 1) {
    return options.kernel_dirs.front();
  }
  std::error_code none;
  if (options.kernel_dirs.empty() && fs::is_directory("kernels", none)) {
    return "kernels";
  }
  throw Error(ExitCode::usage, fmt::format("'{}' is not a folder", revision), kSourceOption,
              "name a folder of kernels; for a revision of git, name the folder of kernels that is "
              "in the repository with --kernel-dir");
}

/// Finds git or tar. FATUNE_GIT and FATUNE_TAR may name other ones.
std::string program(const std::string& name) {
  const auto found = find_tool(name);
  if (!found) {
    throw Error(ExitCode::usage, fmt::format("there is no program '{}'", name), kSourceOption,
                "install it, or name a folder");
  }
  return found->string();
}

std::string commit_of(const std::string& git, const fs::path& folder, const std::string& revision) {
  try {
    const std::string hash =
        run_program(git, {"-C", folder.string(), "rev-parse", "--verify", "--quiet",
                          "--end-of-options", revision + "^{commit}"})
            .out;
    return hash.substr(0, hash.find('\n'));
  } catch (const Error&) {
    throw Error(ExitCode::usage,
                fmt::format("'{}' is neither a folder nor a revision of the git repository of {}",
                            revision, folder.string()),
                kSourceOption, "give a folder of kernels, or a commit, branch or tag");
  }
}

/// Unpacks the folder of kernels, as it was at a revision, into `to`.
void unpack_revision(const fs::path& folder, const std::string& revision, const fs::path& to) {
  const std::string git = program("git");
  const std::string archive = (to / "kernels.tar").string();
  const std::string commit = commit_of(git, folder, revision);
  static_cast<void>(run_program(
      git, {"-C", folder.string(), "archive", "--format=tar", "--output=" + archive, commit}));
  static_cast<void>(run_program(program("tar"), {"-x", "-f", archive, "-C", to.string()}));
  fs::remove(archive);
}

/// Returns the run's files, overlaid with a folder of other kernels.
FileTree overlaid(const KernelSet& kernels, const fs::path& folder) {
  FileTree tree = kernels.tree;
  tree.overlay_kernels(folder);
  return tree;
}

/// Returns the run's families that the tree takes from other sources, with `version` in their
/// names.
std::vector<Family> other_versions(const KernelSet& kernels, const FileTree& tree,
                                   const KernelOptions& options, const std::string& version) {
  std::vector<Family> families;
  for (const Family& family : kernels.families.all()) {
    const std::string file = "kernels/" + family.name + "/family.json";
    if (tree.is_users(file) && tree.origin(file) != kernels.tree.origin(file)) {
      Family other = load_family(tree, family.name, family_options(options));
      other.version = version;
      other.name += "@" + version;
      families.push_back(std::move(other));
    }
  }
  if (families.empty()) {
    throw Error(ExitCode::usage,
                fmt::format("'{}' has none of the families {}", version, kernels.families.names()),
                kSourceOption, "name the folder that has a folder for each of them");
  }
  return families;
}

std::vector<Family> load_other_sources(const std::string& source, const KernelSet& kernels,
                                       const KernelOptions& options) {
  std::error_code none;
  if (fs::is_directory(source, none)) {
    return other_versions(kernels, overlaid(kernels, source), options, source);
  }
  const fs::path folder = kernel_folder(options, source);
  const ScratchFolder scratch;
  unpack_revision(folder, source, scratch.path());
  return other_versions(kernels, overlaid(kernels, scratch.path()), options, source);
}

std::string name_of(const AgainstOptions& options) {
  const std::string file = options.best.value_or("");
  const std::string source = options.source ? "sources " + *options.source : std::string();
  return file.empty() ? source : source.empty() ? file : file + " with " + source;
}

}  // namespace

Config Rivals::config_of(const std::string& family, const std::string& short_form) const {
  const std::string built = family + (version.empty() ? "" : "@" + version);
  if (const Family* const found = families.find(built)) {
    return parse_config(*found, short_form);
  }
  if (!version.empty()) {
    throw Error(ExitCode::usage, fmt::format("it is from {}, which is not raced here", built));
  }
  return parse_config(families, short_form);
}

std::optional<Config> Rivals::twin_of(const Config& config) const {
  try {
    return config_of(config.family, short_form(families.of(config), config));
  } catch (const Error&) {
    return std::nullopt;
  }
}

RunReport load_winners(InputRuns input, const std::string& device) {
  const std::string name = input.name;
  RunReport run = run_of(std::move(input), device);
  std::erase_if(run.problems, [](const ProblemReport& problem) { return problem.ranking.empty(); });
  if (run.problems.empty()) {
    throw Error(ExitCode::bad_file, "it names no winner", name,
                "give a best_configs.json that a sweep has written");
  }
  return run;
}

const Result* find_winner(const RunReport& run, const Problem& problem) {
  const auto found = std::ranges::find(run.problems, problem, &ProblemReport::problem);
  return found == run.problems.end() ? nullptr : &found->ranking.front();
}

std::optional<Rivals> choose_rivals(const AgainstOptions& options, const KernelSet& kernels,
                                    const MeasureOptions& run) {
  if (!options.best && !options.source) {
    if (options.tolerance_percent || run.files.junit_file) {
      throw Error(ExitCode::usage, "there is nothing to compare winners with",
                  run.files.junit_file ? "--junit" : "--tolerance",
                  "add --against FILE or --against-source DIR|REV");
    }
    return std::nullopt;
  }
  std::vector<Family> families = kernels.families.all();
  if (options.source) {
    for (Family& other : load_other_sources(*options.source, kernels, run.kernels)) {
      families.push_back(std::move(other));
    }
  }
  std::optional<RunReport> best;
  if (options.best) {
    const Target target = choose_targets(run.target, kernels.tree, kernels.families.all()).front();
    best = load_winners(load_runs(*options.best, run.store.file), target.limits.name);
  }
  return Rivals{name_of(options), FamilySet(std::move(families)), std::move(best),
                options.source.value_or(""), options.tolerance_percent.value_or(kTolerancePercent)};
}

}  // namespace fatune
