#include "app/commands/verify_winner_command.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "app/choice/kernel_choice.hpp"
#include "app/choice/plan_problems.hpp"
#include "app/console/console.hpp"
#include "app/run/best_file.hpp"
#include "app/run/measuring.hpp"
#include "core/error.hpp"
#include "core/is_among.hpp"
#include "emit/run_report.hpp"
#include "emit/winner_report.hpp"
#include "engine/interrupt.hpp"
#include "plan/config_text.hpp"
#include "plan/planner.hpp"
#include "rank/winner_verdict.hpp"

namespace fatune {
namespace {

/// Uses the file's family and space unless the user names others.
KernelOptions kernels_of(KernelOptions options, const BestFile& file) {
  options.family = names_families(options) ? options.family : file.family;
  if (!options.space && !file.space.empty()) {
    options.space = file.space;
  }
  return options;
}

/// Returns every configuration of the spaces that fits the problem, and the winner in any case.
std::vector<Config> rivals_of(const FamilySet& families, const FamilySpaces& spaces,
                              const Problem& problem, const Config& winner) {
  ProblemOptions options;
  options.dtypes = {problem.dtype};
  options.d_heads = {problem.d_head};
  std::vector<Config> configs;
  for (const Family& family : families.all()) {
    const Plan plan = make_plan(family, spaces.at(family.name), binding_of(options));
    configs.insert(configs.end(), plan.kept.begin(), plan.kept.end());
  }
  if (!is_among(winner, configs)) {
    configs.push_back(winner);
  }
  return configs;
}

Config config_of(const KnownWinner& known, const FamilySet& families) {
  const Family* const family = families.find(known.family);
  return family == nullptr ? parse_config(families, known.config)
                           : parse_config(*family, known.config);
}

PlannedRun plan_checks(KernelSet kernels, const FamilySpaces& spaces, const BestFile& file) {
  std::vector<ProblemPlan> problems;
  for (const KnownWinner& known : file.winners) {
    check_problem(known.problem);
    ProblemPlan& plan = problems.emplace_back();
    plan.problem = known.problem;
    plan.kept_in_race = config_of(known, kernels.families);
    plan.configs = rivals_of(kernels.families, spaces, known.problem, *plan.kept_in_race);
  }
  const std::string keys = space_keys(kernels.families, spaces);
  return {std::move(kernels), keys, std::move(problems), std::nullopt};
}

std::vector<WinnerCheck> check_winners(const RunReport& report, const PlannedRun& run,
                                       const BestFile& file, double tolerance_percent) {
  VerdictPolicy policy{tolerance_percent, report.policy.confidence, 100.0 * report.policy.target_ci,
                       0};
  std::vector<WinnerCheck> checks;
  for (std::size_t i = 0; i < file.winners.size(); ++i) {
    const KnownWinner& known = file.winners[i];
    WinnerCheck& check = checks.emplace_back();
    check.problem = known.problem;
    check.winner = known.config;
    check.file_us = known.time_us;
    policy.candidates = run.problems[i].configs.size();
    const auto measured = std::ranges::find_if(report.problems, [&](const ProblemReport& problem) {
      return problem.problem == known.problem;
    });
    if (measured != report.problems.end()) {
      judge_winner(*measured, config_of(known, run.kernels.families), policy, check);
    }
  }
  return checks;
}

bool any_is(const std::vector<WinnerCheck>& checks, WinnerVerdict verdict) {
  return is_among(verdict, checks, &WinnerCheck::verdict);
}

ExitCode exit_code_of(const WinnerReport& report) {
  if (!report.complete) {
    return ExitCode::interrupted;
  }
  if (any_is(report.checks, WinnerVerdict::beaten) ||
      any_is(report.checks, WinnerVerdict::failed)) {
    return ExitCode::beaten;
  }
  return any_is(report.checks, WinnerVerdict::undecided) ? ExitCode::undecided : ExitCode::ok;
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

WinnerReport report_of(const RunEnd& end, const PlannedRun& run, const BestFile& file,
                       double tolerance_percent) {
  return {file.origin,
          {end.report.device.name, end.report.toolchain.driver_release,
           end.report.toolchain.driver_version},
          file.measured,
          end.complete,
          check_winners(end.report, run, file, tolerance_percent)};
}

}  // namespace

ExitCode verify_winner(const VerifyWinnerOptions& options) {
  const FileTree tree;
  const Target target = the_gpu(options, tree);
  const std::string& device = target.limits.name;
  const BestFile file = options.file ? named_best_file(tree, *options.file, device)
                                     : shipped_best_file(tree, target.limits);
  const KernelOptions kernel_options = kernels_of(options.kernels, file);
  KernelSet kernels = choose_families(kernel_options);
  const FamilySpaces spaces = choose_spaces(kernels, kernel_options);
  const PlannedRun run = plan_checks(std::move(kernels), spaces, file);
  const ResultFiles files = result_files(options);
  check_writable(files);
  const InterruptWatch watch;
  const auto cache = open_cache(options.compile);
  const RunEnd end = measure(options, run, target, files, cache.get());
  const WinnerReport report = report_of(end, run, file, options.tolerance_percent);
  print_note(options.output, winner_notes(report));
  if (files.print_best) {
    print_result(best_configs_json(end.report));
  } else {
    print_document(winner_document(report), options.output);
  }
  if (end.file_error) {
    throw *end.file_error;
  }
  return exit_code_of(report);
}

}  // namespace fatune
