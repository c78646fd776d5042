#include "base/ranges.hpp"
#include "cli/subcommands.hpp"
#include "engine/choice/plan_problems.hpp"
#include "engine/choice/rivals.hpp"
#include "engine/session.hpp"
#include "plan/planner.hpp"
#include "store/study_inputs.hpp"

namespace fatune {
namespace {

struct VerifyWinnerOptions : MeasureOptions {
  /// A stored run, a file, or a GPU that fatune ships winners of; absent: the GPU of this machine.
  std::optional<std::string> input;
  std::optional<double> tolerance_percent;  ///< absent: kTolerancePercent
};

/// Uses the file's family and space unless the user names others.
KernelOptions kernels_of(KernelOptions options, const RunReport& file) {
  options.family = names_families(options) ? options.family : file.family;
  if (!options.space && !file.space.empty()) {
    options.space = file.space;
  }
  return options;
}

/// Returns every configuration of the spaces that fits the problem, and the winner in any case.
std::vector<Config> rivals_of(const FamilySet& families, const FamilySpaces& spaces,
                              const Problem& problem, const Config& winner) {
  const Binding binding{{problem.dtype}, {problem.d_head}, problem.kv_dtype};
  std::vector<Config> configs;
  for (const Family& family : families.all()) {
    const Plan plan = make_plan(family, spaces.at(family.name), binding);
    configs.insert(configs.end(), plan.kept.begin(), plan.kept.end());
  }
  append_new(configs, winner);
  return configs;
}

std::vector<ProblemPlan> plan_checks(const Rivals& rivals, const FamilySpaces& spaces) {
  std::vector<ProblemPlan> plans;
  for (const ProblemReport& known : rivals.best->problems) {
    const Result& winner = known.ranking.front();
    if (&winner != find_winner(*rivals.best, known.problem)) {
      continue;  // a repetition
    }
    check_problem(known.problem);
    ProblemPlan& plan = plans.emplace_back();
    plan.problem = known.problem;
    plan.configs = rivals_of(rivals.families, spaces, known.problem,
                             rivals.config_of(winner.config.family, winner.short_form));
  }
  return plans;
}

/// Returns the GPUs of the only model. The file's kernels are not known before the GPU is, so the
/// target of compilation is the GPU's own architecture.
Target the_gpu(const VerifyWinnerOptions& options, const FileTree& tree) {
  TargetOptions target = options.target;
  target.require_gpu = true;
  const std::vector<Target> targets = choose_targets(target, tree, {});
  if (targets.size() > 1) {
    throw Error(ExitCode::usage, "the GPUs are of several models", "--devices",
                "verify the winners of one model at a time");
  }
  return targets.front();
}

/// Loads the named run, or what fatune ships for the named GPU, or for `device`.
InputRuns load_input(const VerifyWinnerOptions& options, const FileTree& tree,
                     const DeviceLimits& device) {
  if (!options.input) {
    return shipped_results(tree, device);
  }
  std::error_code ignored;
  if (!is_stored_run(*options.input) && !std::filesystem::exists(*options.input, ignored)) {
    if (auto shipped = shipped_results(tree, *options.input, "FILE|GPU")) {
      return *std::move(shipped);
    }
  }
  return load_runs(*options.input, options.store.file);
}

/// Checks whether the winners of a best_configs.json are still the fastest on this machine: sweeps
/// the file's problems, and races its winners against the sweep's.
ExitCode verify_winner(const VerifyWinnerOptions& options) {
  const FileTree tree;
  const Target target = the_gpu(options, tree);
  const std::string& device = target.limits.name;
  RunReport file = load_winners(load_input(options, tree, target.limits), device);
  const KernelOptions kernel_options = kernels_of(options.kernels, file);
  PlannedRun run{choose_families(kernel_options), {}, {}, std::nullopt};
  const FamilySpaces spaces = choose_spaces(run.kernels, kernel_options);
  run.space = space_keys(run.kernels.families, spaces);
  const auto rivals = std::make_shared<Rivals>(
      Rivals{options.input.value_or("what fatune ships for " + device), run.kernels.families,
             std::move(file), "", options.tolerance_percent.value_or(kTolerancePercent), true});
  run.problems = plan_checks(*rivals, spaces);
  run.rivals = rivals;
  return carry_out(options, run);
}

}  // namespace

void add_verify_winner_command(const Subcommands& all) {
  const auto [sub, options] = add_subcommand(
      all, "verify-winner",
      "Measure the winners of a best_configs.json again: are they still the fastest?",
      verify_winner);
  add_text_option(
      sub, "RUN", "N|last|FILE|GPU",
      "best_configs.json or results.json, a stored run by number or last, or a GPU that "
      "fatune ships winners of (default: this GPU model)",
      [&options = options](const std::string& text) {
        options.input = read_path(text, "RUN").string();
      });
  add_tolerance_option(sub, options.tolerance_percent);
  add_kernel_options(sub, options.kernels, SpaceOption::of_file, FamilyOption::several);
  add_target_options(sub, options.target);
  add_compile_settings(sub, options.compile);
  add_policy_options(sub, options, Strategy::race);
  add_store_options(sub, options.store);
  add_file_options(sub, options);
  add_junit_option(sub, options.files.junit_file);
  add_output_options(sub, options.output);
  sub.footer(
      R"(Sweeps the problems of an earlier run, then races each of its winners that did not win again
against the one that did. Verdicts are on the earlier winners: slower, faster, equal, failed or
undecided (docs/verdicts.md). Their earlier times are shown too; no verdict rests on them.

Exit code 11: a winner is slower, or has failed. 13: none is, but one is undecided.

Examples:
  fatune verify-winner
  fatune verify-winner results/best_configs.json
  fatune verify-winner nvidia-h200    (the winners shipped for another GPU)
  fatune verify-winner best.json --tolerance 2 --budget 60 --format json)");
}

}  // namespace fatune
