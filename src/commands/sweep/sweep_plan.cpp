#include "commands/sweep/sweep_plan.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/ranges.hpp"
#include "plan/planner.hpp"
#include "plan/scope.hpp"

namespace fatune {
namespace {

bool can_run(const Family& family, const std::vector<Target>& targets) {
  return std::ranges::any_of(
      targets, [&](const Target& target) { return provides(target.limits.arch, family.min_arch); });
}

std::string left_out(const Family& family, const std::string& why) {
  return fmt::format("{} is left out: {}", family.name, why);
}

/// Says which families that could run are left out because they do not have the requested space.
std::vector<std::string> notes_on_space(const SweepRequest& request,
                                        const std::vector<Family>& meant,
                                        const KernelSet& kernels) {
  std::vector<std::string> notes;
  const std::vector<Family>& left = kernels.families.all();
  if (left.size() == meant.size()) {
    return notes;
  }
  const std::vector<Target> targets = choose_targets(request.target, kernels.tree, left);
  for (const Family& family : meant) {
    if (!is_among(family.name, left, &Family::name) && can_run(family, targets)) {
      notes.push_back(left_out(family, "it does not have the space"));
    }
  }
  return notes;
}

/// Drops the families that `keeps` rejects, unless none would be left. Returns the dropped ones.
template <typename Keeps>
std::vector<Family> keep_if_any(FamilySet& families, const Keeps& keeps) {
  if (std::ranges::none_of(families.all(), keeps)) {
    return {};
  }
  std::vector<Family> dropped = filtered(families.all(), std::not_fn(keeps));
  families.keep_if(keeps);
  return dropped;
}

/// Drops the families that none of the devices can run, unless none would be left.
void keep_runnable(const SweepRequest& request, KernelSet& kernels,
                   std::vector<std::string>& notes) {
  const std::vector<Target> targets =
      choose_targets(request.target, kernels.tree, kernels.families.all());
  const std::vector<Family> dropped =
      keep_if_any(kernels.families, [&](const Family& family) { return can_run(family, targets); });
  if (request.kernels.family == kEveryFamily) {
    for (const Family& family : dropped) {
      notes.push_back(left_out(family, "it needs " + arch_name(family.min_arch)));
    }
  }
}

/// Drops the families that are meant for none of the problems, unless none would be left.
void keep_meant(const std::vector<Problem>& problems, FamilySet& families) {
  keep_if_any(families, [&](const Family& family) {
    return std::ranges::any_of(
        problems, [&](const Problem& problem) { return is_meant_for(family, problem); });
  });
}

/// Drops the families that are not told of a property that the problems have, unless none would be
/// left.
void keep_told(const std::vector<Problem>& problems, FamilySet& families,
               std::vector<std::string>& notes) {
  for (const ToldProperty& property : kToldProperties) {
    if (std::ranges::any_of(problems, [&](const Problem& one) { return has(one, property); })) {
      const auto is_told = [&](const Family& family) { return takes(family.arguments, property); };
      for (const Family& family : keep_if_any(families, is_told)) {
        notes.push_back(left_out(family, why_not_taken("it", property)));
      }
    }
  }
}

/// Plans the configurations of a family. A note says so if not all of them are tried.
FamilyPlan plan_family(const Family& family, const Space& space, const ProblemOptions& problems,
                       std::vector<std::string>& notes) {
  Plan plan = make_plan(family, space, binding_of(problems));
  if (plan.kept_besides > 0) {
    append_new(notes, fmt::format("of the {} configurations of space {} that {} can build, {} are "
                                  "tried, chosen at random",
                                  static_cast<std::int64_t>(plan.kept.size()) + plan.kept_besides,
                                  space.key, family.name, plan.kept.size()));
  }
  return {&family, std::move(plan)};
}

/// Plans the configurations of each family. Families without any are dropped.
std::vector<FamilyPlan> plan_families(const ProblemOptions& problems, const FamilySpaces& spaces,
                                      FamilySet& families, std::vector<std::string>& notes) {
  std::map<std::string, FamilyPlan> plans;
  for (const Family& family : families.all()) {
    plans[family.name] = plan_family(family, spaces.at(family.name), problems, notes);
  }
  const auto is_left = [&](const Family& family) { return !plans[family.name].plan->kept.empty(); };
  if (std::ranges::none_of(families.all(), is_left)) {
    const Family& first = families.all().front();
    fail_without_configs(first, spaces.at(first.name), *plans[first.name].plan);
  }
  families.keep_if(is_left);
  return mapped(families.all(), [&](const Family& family) {
    FamilyPlan& plan = plans[family.name];
    plan.family = &family;  // it has moved
    return plan;
  });
}

bool is_of_all(const ProblemPlan& problem, const std::vector<FamilyPlan>& plans) {
  return std::ranges::all_of(plans, [&](const FamilyPlan& of) {
    return is_among(of.family->name, problem.configs, &Config::family);
  });
}

/// Keeps only the problems for which every family has configurations, if there are any.
void keep_common(const std::vector<FamilyPlan>& plans, std::vector<ProblemPlan>& problems) {
  const auto common = [&](const ProblemPlan& problem) { return is_of_all(problem, plans); };
  if (std::ranges::any_of(problems, common)) {
    std::erase_if(problems, [&](const ProblemPlan& problem) { return !common(problem); });
  }
}

/// The options that name one problem.
ProblemOptions options_of(const Problem& problem) {
  ProblemOptions options;
  options.seq_lens = {problem.seq_len};
  options.d_heads = {problem.d_head};
  options.dtypes = {problem.dtype};
  options.causal = problem.causal;
  options.batch = problem.batch;
  options.heads = problem.heads;
  for (const ProblemDetail& detail : kProblemDetails) {
    if (is_unusual(detail, problem)) {
      options.details[&detail] = detail_value(detail, problem);
    }
  }
  return options;
}

/// The names of the families that are meant for the problem and told of its properties.
std::set<std::string> families_for(const Problem& problem, FamilySet families, bool are_named) {
  if (!are_named && families.several()) {
    keep_meant({problem}, families);
    std::vector<std::string> unsaid;  // other problems may have these families
    keep_told({problem}, families, unsaid);
  }
  std::set<std::string> names;
  for (const Family& family : families.all()) {
    names.insert(family.name);
  }
  return names;
}

/// The families' plans by types and head dimension, made when they are first needed.
class BoundPlans {
 public:
  BoundPlans(const FamilySet& families, const FamilySpaces& spaces, std::vector<std::string>& notes)
      : families_(families), spaces_(spaces), notes_(notes) {}

  /// The plans of the families of these names that have configurations for the problem.
  [[nodiscard]] std::vector<FamilyPlan> of(const ProblemOptions& problem,
                                           const std::set<std::string>& names) {
    std::vector<FamilyPlan> plans;
    for (const Family& family : families_.all()) {
      if (names.contains(family.name)) {
        plans.push_back(of(problem, family));
      }
    }
    std::erase_if(plans, [](const FamilyPlan& plan) { return plan.plan->kept.empty(); });
    return plans;
  }
  /// One plan of each family that has had configurations.
  [[nodiscard]] std::vector<FamilyPlan> one_of_each() const {
    std::vector<FamilyPlan> plans;
    for (const auto& [key, plan] : plans_) {
      if (!plan.plan->kept.empty() && !is_among(plan.family, plans, &FamilyPlan::family)) {
        plans.push_back(plan);
      }
    }
    return plans;
  }

 private:
  const FamilyPlan& of(const ProblemOptions& problem, const Family& family) {
    FamilyPlan& known = plans_[{family.name, problem.dtypes.front(), problem.d_heads.front(),
                                binding_of(problem).kv_dtype}];
    if (known.plan == nullptr) {
      known = plan_family(family, spaces_.at(family.name), problem, notes_);
    }
    return known;
  }

  const FamilySet& families_;
  const FamilySpaces& spaces_;
  std::vector<std::string>& notes_;
  std::map<std::tuple<std::string, DType, std::int64_t, DType>, FamilyPlan> plans_;
};

/// Each problem has the configurations of the families that are for it.
void plan_workload(const Workload& workload, const FamilySpaces& spaces, bool families_are_named,
                   KernelSet& kernels, SweepPlan& plan) {
  const auto names_for = [&](const WorkloadCall& call) {
    return families_for(call.problem, kernels.families, families_are_named);
  };
  const std::vector<std::set<std::string>> names = mapped(workload, names_for);
  kernels.families.keep_if([&](const Family& family) {
    return std::ranges::any_of(names, [&](const auto& some) { return some.contains(family.name); });
  });
  BoundPlans plans(kernels.families, spaces, plan.notes);
  for (std::size_t i = 0; i < workload.size(); ++i) {
    const ProblemOptions options = options_of(workload[i].problem);
    std::vector<ProblemPlan> planned = plan_problems(plans.of(options, names[i]), options);
    if (planned.empty()) {
      plan.notes.push_back(fmt::format("{} is left out: no family has a configuration for it",
                                       describe(workload[i].problem)));
    }
    for (ProblemPlan& problem : planned) {
      problem.calls = workload[i].calls;
      problem.before_us = workload[i].time_us;
      plan.problems.push_back(std::move(problem));
    }
  }
  if (plan.problems.empty()) {
    throw Error(ExitCode::nothing_ranked, "no family has a configuration for any of the problems",
                "--workload", "'fatune list' with a problem's options says why");
  }
  plan.families = plans.one_of_each();
}

void plan_options(const SweepRequest& request, const FamilySpaces& spaces, KernelSet& kernels,
                  SweepPlan& plan) {
  if (kernels.families.several() && !names_families(request.kernels)) {
    keep_told(named_problems(request.problems), kernels.families, plan.notes);
  }
  plan.families = plan_families(request.problems, spaces, kernels.families, plan.notes);
  plan.problems = plan_problems(plan.families, request.problems);
  if (request.problems.d_heads.empty()) {
    keep_common(plan.families, plan.problems);
  }
  say_left_out(request.problems, plan.problems, request.output);
}

}  // namespace

SweepPlan plan_sweep(const SweepRequest& request, KernelSet& kernels) {
  const std::vector<Family> meant = kernels.families.all();
  const FamilySpaces spaces = choose_spaces(kernels, request.kernels);
  SweepPlan plan;
  plan.notes = notes_on_space(request, meant, kernels);
  const bool chooses = kernels.families.several() && !names_families(request.kernels);
  if (chooses && !request.workload) {
    keep_meant(named_problems(request.problems), kernels.families);
  }
  if (chooses) {
    keep_runnable(request, kernels, plan.notes);
  }
  if (request.workload) {
    plan_workload(*request.workload, spaces, names_families(request.kernels), kernels, plan);
  } else {
    plan_options(request, spaces, kernels, plan);
  }
  plan.space = space_keys(kernels.families, spaces);
  return plan;
}

}  // namespace fatune
