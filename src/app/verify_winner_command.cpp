#include <algorithm>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "app/best_file.hpp"
#include "app/commands.hpp"
#include "app/console.hpp"
#include "app/kernel_choice.hpp"
#include "app/measuring.hpp"
#include "app/plan_problems.hpp"
#include "core/error.hpp"
#include "emit/winner_report.hpp"
#include "engine/interrupt.hpp"
#include "plan/config_text.hpp"
#include "plan/planner.hpp"

namespace fatune {
namespace {

/// The file's family and space, where the user names no others.
KernelOptions kernels_of(KernelOptions options, const BestFile& file) {
  options.family = options.family.empty() ? file.family : options.family;
  if (!options.space && !file.space.empty()) {
    options.space = file.space;
  }
  return options;
}

/// Every configuration of the space that is for the problem, and the winner if it is not among
/// them.
std::vector<Config> rivals_of(const Family& family, const Space& space, const Problem& problem,
                              const Config& winner) {
  ProblemOptions options;
  options.dtypes = {problem.dtype};
  options.d_heads = {problem.d_head};
  std::vector<Config> configs = make_plan(family, space, binding_of(options)).kept;
  if (std::find(configs.begin(), configs.end(), winner) == configs.end()) {
    configs.push_back(winner);
  }
  return configs;
}

PlannedRun plan_checks(KernelChoice kernels, const Space& space, const BestFile& file) {
  std::vector<ProblemPlan> problems;
  for (const KnownWinner& known : file.winners) {
    check_problem(known.problem);
    ProblemPlan& plan = problems.emplace_back();
    plan.problem = known.problem;
    plan.configs =
        rivals_of(kernels.family, space, known.problem, parse_config(kernels.family, known.config));
  }
  return {std::move(kernels), space.key, std::move(problems), std::nullopt};
}

const Entry* find_entry(const std::vector<Entry>& entries, const Config& config) {
  const auto found = std::find_if(entries.begin(), entries.end(),
                                  [&](const Entry& entry) { return entry.config == config; });
  return found == entries.end() ? nullptr : &*found;
}

/// Beyond doubt: the race has put them into different tie groups.
WinnerVerdict judge(const Entry& winner, const Entry& fastest, double tolerance_percent) {
  const double behind_percent =
      100.0 * (ranked_us(winner.outcome) / ranked_us(fastest.outcome) - 1.0);
  return winner.tie_group != fastest.tie_group && behind_percent > tolerance_percent
             ? WinnerVerdict::beaten
             : WinnerVerdict::confirmed;
}

WinnerCheck check_winner(const ProblemReport& report, const Config& config, std::string winner,
                         double tolerance_percent) {
  WinnerCheck check;
  check.problem = report.problem;
  check.winner = std::move(winner);
  if (!report.ranking.empty()) {
    check.fastest = report.ranking.front().short_form;
    check.fastest_us = ranked_us(report.ranking.front().outcome);
  }
  if (const Entry* ranked = find_entry(report.ranking, config)) {
    check.winner_us = ranked_us(ranked->outcome);
    check.verdict = judge(*ranked, report.ranking.front(), tolerance_percent);
  } else if (const Entry* failed = find_entry(report.failures, config)) {
    check.verdict = WinnerVerdict::failed;
    check.detail = outcome_summary(failed->outcome);
  }
  return check;
}

std::vector<WinnerCheck> check_winners(const RunReport& report, const Family& family,
                                       const BestFile& file, double tolerance_percent) {
  std::vector<WinnerCheck> checks;
  for (const KnownWinner& known : file.winners) {
    const auto found = std::find_if(
        report.problems.begin(), report.problems.end(),
        [&](const ProblemReport& problem) { return problem.problem == known.problem; });
    const bool measured = found != report.problems.end();
    checks.push_back(measured ? check_winner(*found, parse_config(family, known.config),
                                             known.config, tolerance_percent)
                              : WinnerCheck{known.problem, known.config, {}, {}, {}, {}, {}});
  }
  return checks;
}

ExitCode exit_code_of(const std::vector<WinnerCheck>& checks, bool complete) {
  const bool all_stand = std::all_of(checks.begin(), checks.end(), [](const WinnerCheck& check) {
    return check.verdict == WinnerVerdict::confirmed || check.verdict == WinnerVerdict::unknown;
  });
  return !all_stand ? ExitCode::beaten : complete ? ExitCode::ok : ExitCode::interrupted;
}

Target the_gpu(const VerifyWinnerOptions& options, const FileTree& tree) {
  TargetOptions target = options.target;
  target.require_gpu = true;
  const std::vector<Target> targets = choose_targets(target, tree);
  if (targets.size() > 1) {
    throw Error(ExitCode::usage, "the GPUs are of several models", "--devices",
                "verify the winners of one model at a time");
  }
  return targets.front();
}

}  // namespace

ExitCode verify_winner(const VerifyWinnerOptions& options) {
  configure_logging(options.output.verbosity);
  const BestFile file = read_best_file(FileTree(), options.file);
  const KernelOptions kernel_options = kernels_of(options.kernels, file);
  KernelChoice kernels = choose_kernels(kernel_options);
  const Space space = choose_space(kernels, kernel_options);
  const PlannedRun run = plan_checks(std::move(kernels), space, file);
  const Target target = the_gpu(options, run.kernels.tree);
  const ResultFiles files{options.out_dir, options.best_file};
  check_writable(files);
  const InterruptWatch watch;
  const auto cache = open_cache(options.compile);
  const RunEnd end = measure(options, run, target, files, cache.get());
  const std::vector<WinnerCheck> checks =
      check_winners(end.report, run.kernels.family, file, options.tolerance_percent);
  print_result(print_winner_checks(checks, options.output.format));
  if (end.file_error) {
    throw *end.file_error;
  }
  return exit_code_of(checks, end.complete);
}

}  // namespace fatune
