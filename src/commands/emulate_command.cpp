#include "commands/emulate_command.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "app/choice/default_problems.hpp"
#include "app/choice/kernel_choice.hpp"
#include "app/choice/plan_problems.hpp"
#include "app/choice/ragged_length.hpp"
#include "app/choice/target.hpp"
#include "app/console/console.hpp"
#include "app/console/progress.hpp"
#include "app/run/session.hpp"
#include "commands/emulate_config.hpp"
#include "compile/compiler.hpp"
#include "core/for_each_index.hpp"
#include "core/is_among.hpp"
#include "emit/emulate_report.hpp"
#include "engine/interrupt.hpp"

namespace fatune {
namespace {

using emulate::Timing;

/// Early and late timing have one schedule each, whatever number the options ask for.
std::vector<NamedSchedule> schedules_of(const EmulateOptions& options) {
  std::vector<NamedSchedule> schedules;
  if (options.timing == EmulatedTiming::early) {
    return {{"early", {Timing::early, options.seed}}};
  }
  if (options.timing != EmulatedTiming::random) {
    schedules.push_back({"late", {Timing::late, options.seed}});
  }
  const auto wanted = static_cast<std::size_t>(options.schedules);
  while (options.timing != EmulatedTiming::late && schedules.size() < wanted) {
    schedules.push_back(random_schedule(options.seed + schedules.size()));
  }
  return schedules;
}

EmulateReport describe(const EmulateOptions& options, const KernelSet& kernels,
                       const Target& target, const std::vector<NamedSchedule>& schedules) {
  EmulateReport report;
  report.family = kernels.family().name;
  report.arch = target.limits.arch;
  report.toolchain = toolchain_name();
  report.seed = static_cast<std::int64_t>(options.seed);
  report.checks = options.checks;
  for (const NamedSchedule& schedule : schedules) {
    report.schedules.push_back(schedule.name);
  }
  for (const InputKind kind : kInputKinds) {
    report.inputs.emplace_back(input_kind_name(kind));
  }
  return report;
}

EmulationSettings settings_of(const EmulateOptions& options,
                              const std::vector<NamedSchedule>& schedules) {
  EmulationSettings settings;
  settings.schedules = schedules;
  settings.checks = options.checks;
  settings.profile = options.profile;
  settings.stopped = InterruptWatch::interrupted;
  return settings;
}

constexpr std::int64_t kWholeSeqLen = 256;

/// A configuration on one of its problems.
struct EmulatedCase {
  const Config* config;
  Problem problem;
};

/// Returns the problems of a configuration. A profile is that of one problem.
std::vector<Problem> problems_of(const EmulateOptions& options, const Family& family,
                                 const Config& config, const DeviceLimits& limits) {
  if (options.seq_len || options.profile) {
    return {problem_for(family, config, options.problems, options.seq_len.value_or(kWholeSeqLen))};
  }
  ProblemOptions whole = options.problems;
  whole.seq_lens = {kWholeSeqLen};
  ProblemOptions ragged = options.problems;
  ragged.seq_lens = {kRaggedSeqLen};
  return default_problems(family, config, whole, ragged, limits);
}

std::vector<EmulatedCase> cases_of(const EmulateOptions& options, const Family& family,
                                   const std::vector<Config>& configs, const DeviceLimits& limits) {
  std::vector<EmulatedCase> cases;
  for (const Config& config : configs) {
    for (const Problem& problem : problems_of(options, family, config, limits)) {
      cases.push_back({&config, problem});
    }
  }
  return cases;
}

/// False if an interrupt kept the configuration from running or from finishing.
bool is_finished(const EmulatedConfig& row) { return row.outcome != OutcomeKind::stopped; }

ExitCode exit_code_of(const std::vector<EmulatedConfig>& rows, bool strict) {
  const auto any = [&](OutcomeKind outcome) {
    return is_among(outcome, rows, &EmulatedConfig::outcome);
  };
  const bool all_right = std::ranges::all_of(
      rows, [](const EmulatedConfig& row) { return row.outcome == OutcomeKind::right; });
  if (any(OutcomeKind::wrong_result) || any(OutcomeKind::flagged) || (strict && !all_right)) {
    return ExitCode::failed_outcomes;
  }
  return any(OutcomeKind::right) ? ExitCode::ok : ExitCode::nothing_ranked;
}

}  // namespace

ExitCode emulate_kernels(const EmulateOptions& options) {
  const KernelSet kernels = choose_kernels(options.kernels, options.configs);
  const Target target = offline_target(options.arch, kernels.tree, kernels.families.all());
  const std::vector<NamedSchedule> schedules = schedules_of(options);
  EmulateReport report = describe(options, kernels, target, schedules);
  const std::vector<Config> configs =
      choose_configs(kernels, options.kernels, options.configs, options.problems, report.space);
  const auto cache = open_cache(options.compile);
  const InterruptWatch watch;
  EmulatedInputs inputs(options.seed);
  const EmulationJob job{kernels.family(), target.limits, settings_of(options, schedules), inputs,
                         cache.get()};
  const std::vector<EmulatedCase> cases =
      cases_of(options, kernels.family(), configs, target.limits);
  if (cases.empty()) {
    throw Error(
        ExitCode::nothing_ranked,
        fmt::format("no configuration of {} can compute these problems", kernels.family().name), {},
        "'fatune list' with the same options says why");
  }
  Progress progress(options.output, cases.size());
  std::vector<EmulatedConfig> rows(cases.size());
  for_each_index(cases.size(), job_count(options.compile), [&](std::size_t i) {
    if (!InterruptWatch::interrupted()) {
      progress.begin_problem(cases[i].problem);
      rows[i] = emulate_config(job, *cases[i].config, cases[i].problem);
      progress.step();
    }
  });
  progress.finish();
  std::ranges::copy_if(rows, std::back_inserter(report.configs), is_finished);
  report.coverage = {report.configs.size(), cases.size(), !InterruptWatch::interrupted()};
  for (const EmulatedConfig& row : report.configs) {
    if (!row.printed.empty()) {
      print_note(options.output, fmt::format("{} prints:\n{}", row.config, row.printed));
    }
  }
  print_document(emulate_document(report), options.output);
  return report.coverage.complete ? exit_code_of(report.configs, options.strict)
                                  : ExitCode::interrupted;
}

}  // namespace fatune
