#include <algorithm>

#include "cli/subcommands.hpp"
#include "commands/list/list_report.hpp"
#include "engine/candidate_maker.hpp"
#include "engine/choice/kernel_choice.hpp"
#include "engine/choice/plan_problems.hpp"
#include "model/device_limits.hpp"
#include "plan/config_text.hpp"
#include "plan/planner.hpp"

namespace fatune {
namespace {

struct ListOptions {
  KernelOptions kernels;
  ProblemOptions problems;   ///< one length; without it, rules that need a problem wait
  std::optional<Arch> arch;  ///< absent: as offline_target()
  OutputOptions output;
  bool with_dropped = false;
  bool presets = false;  ///< the presets of problems, in place of a space
};

/// Estimates a configuration's time on the problems of one length; nothing if it cannot run.
using EstimateOne = std::function<std::optional<double>(const Config&)>;

ListedConfig listed(const Family& family, const Config& config, const EstimateOne& estimate) {
  Result result = make_result(family, config);
  return {std::move(result.short_form), std::move(result.kernel_name), std::move(result.parameters),
          estimate(config)};
}

/// `seq_len`: absent gives no estimates. `kernels` and `options` must outlive the function.
EstimateOne estimate_for(const KernelSet& kernels, const ListOptions& options,
                         std::optional<std::int64_t> seq_len) {
  if (!seq_len) {
    return [](const Config&) { return std::nullopt; };
  }
  const DeviceLimits limits =
      offline_target(options.arch, kernels.tree, kernels.families.all()).limits;
  const SmRates rates = load_sm_rates(kernels.tree, limits.arch);
  return [&kernels, &options, limits, rates, seq_len](const Config& config) {
    const Problem problem = problem_for(kernels.family(), config, options.problems, *seq_len);
    const double us = CandidateMaker(kernels.families, limits, rates, problem).guess_us(config);
    return us > 0.0 ? std::optional(us) : std::nullopt;
  };
}

RuleCount& count_of(const std::string& rule, std::vector<RuleCount>& counts) {
  const auto found = std::ranges::find(counts, rule, &RuleCount::rule);
  return found != counts.end() ? *found : counts.emplace_back(RuleCount{rule, {}, 0});
}

/// Returns the space's rules in their order, including those that drop nothing.
std::vector<RuleCount> all_rules(const Space& space, bool problem_known) {
  std::vector<RuleCount> counts;
  for (const SpacePart& part : space.parts) {
    for (const SpaceRule& rule : part.rules) {
      count_of(rule.id, counts).waits = !problem_known && !rule.needs().within({});
    }
  }
  return counts;
}

std::optional<std::int64_t> only_listed_seq_len(const ProblemOptions& problems) {
  if (problems.seq_lens.size() > 1) {
    throw Error(ExitCode::usage, "list takes one sequence length", "--seq",
                "its rules may drop other configurations at another length; run once per length");
  }
  return problems.seq_lens.empty() ? std::nullopt : std::optional(problems.seq_lens.front());
}

/// Drops the configurations that rules exclude on problems of this length.
void prune_plan(const KernelSet& kernels, const ListOptions& options, std::int64_t seq_len,
                Plan& plan) {
  const Family& family = kernels.family();
  const DeviceLimits limits =
      offline_target(options.arch, kernels.tree, kernels.families.all()).limits;
  std::erase_if(plan.kept, [&](const Config& config) {
    auto pruned = prune_on(family, plan, config,
                           problem_for(family, config, options.problems, seq_len), limits);
    if (pruned) {
      plan.dropped.push_back({config, *pruned});
    }
    return pruned.has_value();
  });
  std::ranges::sort(plan.dropped, [](const DroppedConfig& a, const DroppedConfig& b) {
    return a.config < b.config;
  });
}

void add_dropped(const Family& family, const DroppedConfig& dropped, PlanReport& report) {
  std::string text = short_form(family, dropped.config);
  std::vector<NamedValue> parameters = named_values(family, dropped.config);
  if (const auto* pruned = std::get_if<Pruned>(&dropped.outcome)) {
    RuleCount& count = count_of(pruned->rule, report.rules);
    ++count.dropped;
    if (count.dropped == 1) {
      count.reason = pruned->reason;
    }
    report.pruned.push_back({std::move(text), pruned->rule, pruned->reason, std::move(parameters)});
  } else if (const auto* invalid = std::get_if<Invalid>(&dropped.outcome)) {
    report.invalid.push_back(
        {std::move(text), invalid->rule, invalid->reason, std::move(parameters)});
  }
}

void add_besides(const Plan& plan, PlanReport& report) {
  report.kept_besides = plan.kept_besides;
  for (const DropCount& more : plan.dropped_besides) {
    (more.pruned ? report.pruned_besides : report.invalid_besides) += more.count;
    if (more.pruned) {
      count_of(more.rule, report.rules).dropped += more.count;
    }
  }
}

PlanReport make_report(const Family& family, const Space& space, const Plan& plan,
                       std::optional<std::int64_t> seq_len, const EstimateOne& estimate) {
  PlanReport report;
  report.seq_len = seq_len;
  report.space = space.key;
  report.family = family.name;
  report.rules = all_rules(space, seq_len.has_value());
  report.unknown_values = unknown_values(plan);
  for (const Config& config : plan.kept) {
    report.kept.push_back(listed(family, config, estimate));
  }
  for (const DroppedConfig& dropped : plan.dropped) {
    add_dropped(family, dropped, report);
  }
  add_besides(plan, report);
  return report;
}

/// Lists what a space keeps, or the presets of problems.
ExitCode list(const ListOptions& options) {
  if (options.presets) {
    print_document(presets_document(load_presets()), options.output);
    return ExitCode::ok;
  }
  const KernelSet kernels = choose_kernels(options.kernels);
  const Space space = choose_space(kernels, options.kernels);
  const std::optional<std::int64_t> seq_len = only_listed_seq_len(options.problems);
  Plan plan = make_plan(kernels.family(), space, binding_of(options.problems));
  if (seq_len) {
    prune_plan(kernels, options, *seq_len, plan);
  }
  print_document(plan_document(make_report(kernels.family(), space, plan, seq_len,
                                           estimate_for(kernels, options, seq_len)),
                               options.with_dropped),
                 options.output);
  return ExitCode::ok;
}

}  // namespace

void add_list_command(const Subcommands& all) {
  const auto [sub, options] =
      add_subcommand(all, "list", "Show what a search space keeps, and what its rules drop", list);
  add_kernel_options(sub, options.kernels, SpaceOption::yes);
  add_problem_options(sub, options.problems, "none: see below");
  add_arch_option(sub, options.arch);
  sub.add_flag("--presets", options.presets,
               "list the published models that --preset knows, and their sources")
      ->group(option_group::kOutput);
  sub.add_flag("--pruned", options.with_dropped, "list the dropped configurations too, and why")
      ->group(option_group::kOutput);
  add_output_options(sub, options.output);
  add_view_options(sub, options.output.view);
  sub.footer(
      R"(Rules that need a problem or a device are applied with --seq only: to problems of that length, on the
device that --arch stands for (default: sm_90a). 'fatune sweep' applies them to each of its problems.
Examples:
  fatune list
  fatune list --space tune --pruned
  fatune list --family flash_sm90 --seq 512 --dhead 128 --pruned
  fatune list --space 64,32 --format json
  fatune list --pruned --filter "status == 'pruned'" --columns rule,config
  fatune list --presets
  fatune list --kernel-dir my_kernels --family my_attention)");
}

}  // namespace fatune
