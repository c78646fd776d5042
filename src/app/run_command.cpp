#include "app/baseline.hpp"
#include "app/commands.hpp"
#include "app/console.hpp"
#include "app/kernel_choice.hpp"
#include "app/plan_problems.hpp"
#include "app/session.hpp"
#include "plan/planner.hpp"

namespace fatune {
namespace {

std::vector<ProblemPlan> repeat(const std::vector<ProblemPlan>& problems, int runs) {
  std::vector<ProblemPlan> repeated;
  for (int run = 1; run <= runs; ++run) {
    for (const ProblemPlan& problem : problems) {
      repeated.push_back(problem);
      repeated.back().run = run;
    }
  }
  return repeated;
}

}  // namespace

ExitCode run(const RunOptions& options) {
  configure_logging(options.output.verbosity);
  KernelChoice kernels = choose_kernels(options.kernels);
  const Plan plan{parse_configs(kernels.family, options.configs, options.problems), {}};
  std::vector<ProblemPlan> problems =
      repeat(plan_problems(kernels.family, plan, options.problems), options.runs);
  std::optional<Config> baseline = planned_baseline(kernels.family, problems, options.baseline);
  return carry_out(options,
                   {std::move(kernels), {}, std::move(problems), baseline, options.counters});
}

}  // namespace fatune
