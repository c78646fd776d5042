#include "commands/profile/profile.hpp"

#include <algorithm>
#include <utility>

#include "app/choice/kernel_choice.hpp"
#include "app/choice/plan_problems.hpp"
#include "app/study/study_inputs.hpp"
#include "core/error.hpp"
#include "core/ranges.hpp"
#include "plan/planner.hpp"

namespace fatune {
namespace {

bool is_listed(const Problem& problem, const std::vector<ProfileProblem>& listed) {
  return is_among(problem, listed, &ProfileProblem::problem);
}

std::vector<ProfileCase> first_of(const ProblemReport& report, const FamilySet& families, int top) {
  std::vector<ProfileCase> cases;
  for (const Result& result : report.ranking) {
    const bool more = top == 0 || cases.size() < static_cast<std::size_t>(top);
    if (more && families.find(result.config.family) != nullptr &&
        std::holds_alternative<Measured>(result.outcome)) {
      cases.push_back({result.config, ranked_us(result.outcome)});
    }
  }
  return cases;
}

ProfilePlan plan_of_run(const ProfileOptions& options) {
  const RunReport run = stored_report(options.db_file, options.run);
  ProfilePlan plan{choose_families_of(run, options.kernels), {}, {}};
  for (const ProblemReport& report : run.problems) {
    std::vector<ProfileCase> cases = first_of(report, plan.kernels.families, options.top);
    if (!cases.empty() && is_asked_for(report.problem, options.problems) &&
        !is_listed(report.problem, plan.problems)) {
      plan.problems.push_back({report.problem, std::move(cases)});
    }
  }
  return plan;
}

ProfilePlan plan_of_options(const ProfileOptions& options) {
  ProfilePlan plan{choose_kernels(options.kernels, options.configs), {}, {}};
  const KernelSet& kernels = plan.kernels;
  const Family& family = kernels.family();
  const Plan configs =
      options.configs.empty()
          ? make_plan(family, choose_space(kernels, options.kernels), binding_of(options.problems))
          : Plan{parse_configs(kernels.families, options.configs, options.problems), {}};
  const std::vector<ProblemPlan> problems = plan_problems({{&family, configs}}, options.problems);
  say_left_out(options.problems, problems, options.output);
  for (const ProblemPlan& problem : problems) {
    ProfileProblem& added = plan.problems.emplace_back(ProfileProblem{problem.problem, {}});
    for (const Config& config : problem.configs) {
      added.cases.push_back({config, std::nullopt});
    }
  }
  return plan;
}

bool has_case(const ProfileProblem& problem, const Config& config) {
  return is_among(config, problem.cases, &ProfileCase::config);
}

void add_baseline(const std::string& text, ProfilePlan& plan) {
  plan.baseline = parse_configs(plan.kernels.families, {text}).front();
  const Family& family = plan.kernels.families.of(*plan.baseline);
  for (ProfileProblem& problem : plan.problems) {
    if (!has_case(problem, *plan.baseline) &&
        !check_valid(family, *plan.baseline, &problem.problem)) {
      problem.cases.push_back({*plan.baseline, std::nullopt});
    }
  }
  if (std::ranges::none_of(plan.problems, [&](const ProfileProblem& problem) {
        return has_case(problem, *plan.baseline);
      })) {
    fail_unplanned_baseline(family, *plan.baseline, "it is valid for none of the problems");
  }
}

}  // namespace

ProfilePlan plan_profile(const ProfileOptions& options) {
  ProfilePlan plan = options.with_run ? plan_of_run(options) : plan_of_options(options);
  if (plan.problems.empty()) {
    throw Error(ExitCode::usage, "there is nothing to profile", {},
                options.with_run ? "the run has no measured configuration for such a problem"
                                 : "the space has no configuration for these problems");
  }
  if (options.baseline) {
    add_baseline(*options.baseline, plan);
  }
  return plan;
}

}  // namespace fatune
