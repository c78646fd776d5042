#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/baseline.hpp"
#include "app/commands.hpp"
#include "app/console.hpp"
#include "app/kernel_choice.hpp"
#include "app/plan_problems.hpp"
#include "app/session.hpp"
#include "core/error.hpp"
#include "plan/planner.hpp"

namespace fatune {
namespace {

std::size_t count_pruned(const Plan& plan) {
  return static_cast<std::size_t>(
      std::count_if(plan.dropped.begin(), plan.dropped.end(), [](const DroppedConfig& dropped) {
        return std::holds_alternative<Pruned>(dropped.outcome);
      }));
}

/// What keeps the space's configurations out: its rules, the family, or both.
[[noreturn]] void fail_empty(const Family& family, const Space& space, const Plan& plan) {
  const std::size_t pruned = count_pruned(plan);
  const std::size_t invalid = plan.dropped.size() - pruned;
  const std::vector<std::string> unknown = unknown_values(plan);
  const std::string what =
      invalid == 0 ? fmt::format("the rules keep no configuration of space {}", space.key)
      : pruned == 0
          ? fmt::format("{} can build no configuration of space {}", family.name, space.key)
          : fmt::format(
                "no configuration of space {} is left: its rules drop {}, {} cannot "
                "build the other {}",
                space.key, pruned, family.name, invalid);
  throw Error(ExitCode::nothing_ranked, what, {},
              unknown.empty() ? "'fatune list --pruned' with the same options says why"
                              : fmt::format("{}", fmt::join(unknown, "; ")));
}

}  // namespace

ExitCode sweep(const SweepOptions& options) {
  configure_logging(options.output.verbosity);
  KernelChoice kernels = choose_kernels(options.kernels);
  const Space space = choose_space(kernels, options.kernels);
  const Plan plan = make_plan(kernels.family, space, binding_of(options.problems));
  if (plan.kept.empty()) {
    fail_empty(kernels.family, space, plan);
  }
  std::vector<ProblemPlan> problems = plan_problems(kernels.family, plan, options.problems);
  choose_audited(kernels.family, plan, options.audit, options.problems, options.policy.seed,
                 problems);
  std::optional<Config> baseline = planned_baseline(kernels.family, problems, options.baseline);
  return carry_out(
      options, {std::move(kernels), space.key, std::move(problems), baseline, options.counters});
}

}  // namespace fatune
