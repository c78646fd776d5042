#include <algorithm>

#include <fmt/format.h>

#include "app/commands.hpp"
#include "app/console.hpp"
#include "app/kernel_choice.hpp"
#include "app/plan_problems.hpp"
#include "app/session.hpp"
#include "core/error.hpp"
#include "plan/config_text.hpp"
#include "plan/planner.hpp"
#include "plan/short_form.hpp"

namespace fatune {
namespace {

template <typename T>
bool is_among(const T& value, const std::vector<T>& asked_for) {
  return asked_for.empty() ||
         std::find(asked_for.begin(), asked_for.end(), value) != asked_for.end();
}

[[noreturn]] void fail_mismatch(const Family& family, const Config& config, const char* option,
                                const std::string& of_config) {
  throw Error(ExitCode::usage,
              fmt::format("the data and the configuration '{}' differ: the configuration is for {}",
                          short_form(family, config), of_config),
              option, "change one of them, or leave the option out");
}

/// A configuration names its dtype and head dimension: what the options say must not contradict.
void check_agreement(const Family& family, const Config& config, const ProblemOptions& options) {
  constexpr std::int64_t kAnyLength = 1024;
  const Problem problem = problem_for(family, config, options, kAnyLength);
  if (!is_among(problem.dtype, options.dtypes)) {
    fail_mismatch(family, config, "--dtype", std::string(dtype_name(problem.dtype)));
  }
  if (!is_among(problem.d_head, options.d_heads)) {
    fail_mismatch(family, config, "--dhead", fmt::format("d_head {}", problem.d_head));
  }
}

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
  const Plan plan{parse_configs(kernels.family, options.configs), {}};
  for (const Config& config : plan.kept) {
    check_agreement(kernels.family, config, options.problems);
  }
  std::vector<ProblemPlan> problems =
      repeat(plan_problems(kernels.family, plan, options.problems), options.runs);
  std::optional<Config> baseline;
  if (options.baseline) {
    baseline = parse_config(kernels.family, *options.baseline);
  }
  return carry_out(options,
                   {std::move(kernels), {}, std::move(problems), baseline, options.counters});
}

}  // namespace fatune
