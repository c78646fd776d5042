#include "cli/subcommands.hpp"
#include "engine/choice/kernel_choice.hpp"
#include "engine/choice/plan_problems.hpp"
#include "engine/session.hpp"
#include "plan/planner.hpp"

namespace fatune {
namespace {

struct RunOptions : MeasureOptions {
  std::vector<std::string> configs;  ///< short forms or kernel names
  int runs = 1;
};

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

/// Groups the configurations by family. Families without any are dropped.
std::vector<FamilyPlan> sort_by_family(const std::vector<Config>& configs, FamilySet& families) {
  std::map<std::string, Plan> plans;
  for (const Config& config : configs) {
    plans[config.family].kept.push_back(config);
  }
  families.keep_if([&](const Family& family) { return plans.contains(family.name); });
  std::vector<FamilyPlan> sorted;
  for (const Family& family : families.all()) {
    sorted.push_back({&family, std::move(plans[family.name])});
  }
  return sorted;
}

ExitCode run(const RunOptions& options) {
  KernelSet kernels = choose_families(options.kernels);
  const std::vector<FamilyPlan> plans = sort_by_family(
      parse_configs(kernels.families, options.configs, options.problems), kernels.families);
  std::vector<ProblemPlan> problems = repeat(plan_problems(plans, options.problems), options.runs);
  say_left_out(options.problems, problems, options.output);
  std::optional<Config> baseline = planned_baseline(kernels.families, problems, options.baseline);
  PlannedRun run{std::move(kernels), {}, std::move(problems), baseline, options.counters};
  run.fit = [](const Target& target, std::vector<ProblemPlan>& fitted) {
    if (!target.measured()) {  // the same estimate again would say nothing
      std::erase_if(fitted, [](const ProblemPlan& problem) { return problem.run > 1; });
    }
  };
  return carry_out(options, run);
}

}  // namespace

void add_run_command(const Subcommands& all) {
  const auto [sub, options] =
      add_subcommand(all, "run", "Verify and time configurations that you name", run);
  add_configs_option(sub, options.configs,
                     "configuration, in short form or as a profiler prints the kernel; repeatable")
      ->required();
  add_integer(sub, "--runs", "repeat the whole measurement N times (default: 1)", 1, 1000,
              options.runs)
      ->group(option_group::kMeasuring);
  add_measure_options(sub, options, SpaceOption::no, Strategy::exhaustive);
  add_counters_option(sub, options.counters);
  sub.footer(R"(Examples:
  fatune run --seq 4096 \
    --config "(FP16,128,64,64,4):async+eager+swizzled+load_2_2_2_tiles"
  fatune run --seq 1000 --causal --runs 3 \
    --config "(BF16,64,128,64,4):async+load_2_2_2_tiles"
  fatune run --config "flash_forward_kernel<FlashForwardKernelConfig{5, 128, \
64, 64, 4, 1, 1, 1, 0, 2, 2, 0, 1}>")");
}

}  // namespace fatune
