#include <fmt/format.h>

#include "app/commands.hpp"
#include "app/console.hpp"
#include "app/kernel_choice.hpp"
#include "app/plan_problems.hpp"
#include "app/session.hpp"
#include "core/error.hpp"
#include "plan/config_text.hpp"
#include "plan/planner.hpp"

namespace fatune {
namespace {

std::optional<Config> read_baseline(const Family& family, const std::optional<std::string>& text) {
  return text ? std::optional<Config>(parse_config(family, *text)) : std::nullopt;
}

}  // namespace

ExitCode sweep(const SweepOptions& options) {
  configure_logging(options.output.verbosity);
  KernelChoice kernels = choose_kernels(options.kernels);
  const Space space = choose_space(kernels, options.kernels);
  const Plan plan = make_plan(kernels.family, space, binding_of(options.problems));
  if (plan.kept.empty()) {
    throw Error(ExitCode::nothing_ranked,
                fmt::format("the rules keep no configuration of space {}", space.key), {},
                "'fatune list --pruned' with the same options says why");
  }
  std::vector<ProblemPlan> problems = plan_problems(kernels.family, plan, options.problems);
  choose_audited(kernels.family, plan, options.audit, options.problems, options.policy.seed,
                 problems);
  std::optional<Config> baseline = read_baseline(kernels.family, options.baseline);
  return carry_out(
      options, {std::move(kernels), space.key, std::move(problems), baseline, options.counters});
}

}  // namespace fatune
