#include <fmt/format.h>

#include "base/ranges.hpp"
#include "base/task_pool.hpp"
#include "cli/subcommands.hpp"
#include "commands/emulate/emulate_report.hpp"
#include "engine/candidate_maker.hpp"
#include "engine/choice/kernel_choice.hpp"
#include "engine/choice/plan_problems.hpp"
#include "engine/compiling.hpp"
#include "engine/interrupt.hpp"
#include "engine/progress.hpp"
#include "gpu/compiler.hpp"
#include "gpu/cubin_cache.hpp"
#include "model/config.hpp"
#include "plan/config_text.hpp"
#include "plan/family.hpp"
#include "plan/planner.hpp"
#include "proof/emulate_kernel.hpp"
#include "proof/emulated_inputs.hpp"

namespace fatune {
namespace {

struct EmulationJob {
  const Family& family;
  const DeviceLimits& limits;
  EmulationSettings settings;
  EmulatedInputs& inputs;
  CubinCache* cache = nullptr;  ///< may be null
};

EmulatedConfig stopped_by(const Outcome& outcome, const Family& family, const Config& config,
                          const Problem& problem) {
  EmulatedConfig row;
  row.config = short_form(family, config);
  row.problem = problem;
  row.outcome = outcome_kind(outcome);
  row.detail = outcome_summary(outcome);
  return row;
}

/// Compiles a configuration with line information and runs its PTX, the whole grid, on the CPU.
/// Faults, and instructions that are not covered, become the row's outcome. Safe to call from
/// several threads.
EmulatedConfig emulate_config(const EmulationJob& job, const Config& config,
                              const Problem& problem) {
  if (const auto obstacle = find_obstacle({job.family, config, problem, job.limits})) {
    return stopped_by(*obstacle, job.family, config, problem);
  }
  const CompileRequest request = compile_request({job.family, config, problem, job.limits});
  const CompileResult compiled = compile_to_ptx(with_line_info(request), job.cache);
  if (const auto failed = failure_of(compiled)) {
    return stopped_by(*failed, job.family, config, problem);
  }
  return emulate_kernel(
             {std::get<Artifact>(compiled), *request.sources, short_form(job.family, config),
              planned_launch({job.family, config, problem, job.limits})},
             job.settings, job.inputs)
      .value();
}

/// When asynchronous copies happen in the emulator, and whether a warp lags. late_then_random: the
/// first schedule is late, and the seed determines the others.
enum class EmulatedTiming { early, late, random, lagging, late_then_random };

/// Options of `emulate`, which runs the PTX of configurations on the CPU. Heads are set, lengths
/// are not. If `arch` is absent, offline_target() chooses it.
struct EmulateOptions : OfflineOptions {
  std::optional<std::int64_t> seq_len;  ///< absent: default_problems()
  std::vector<std::string> configs;     ///< instead of a space
  std::int64_t schedules = 2;
  std::uint64_t seed = 1;  ///< the seed of the inputs and of the first random schedule
  EmulatedTiming timing = EmulatedTiming::late_then_random;
  std::vector<std::string> checks = all_emulation_checks();  ///< the checks whose findings count
  bool profile = false;
  bool strict = false;
};

using ScheduleTiming = emulate::Timing;

/// Early and late timing have one schedule each, whatever number the options ask for. In each
/// lagging one another warp lags.
std::vector<NamedSchedule> schedules_of(const EmulateOptions& options) {
  const auto wanted = static_cast<std::size_t>(options.schedules);
  if (options.timing == EmulatedTiming::lagging) {
    const auto warps = std::views::iota(options.seed, options.seed + wanted);
    return mapped(warps, [](std::uint64_t warp) {
      return NamedSchedule{fmt::format("lagging {}", warp), {ScheduleTiming::lagging, warp}};
    });
  }
  if (options.timing == EmulatedTiming::early) {
    return {{"early", {ScheduleTiming::early, options.seed}}};
  }
  std::vector<NamedSchedule> schedules;
  if (options.timing != EmulatedTiming::random) {
    schedules.push_back({"late", {ScheduleTiming::late, options.seed}});
  }
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
  report.schedules = mapped(schedules, &NamedSchedule::name);
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

struct EmulatedCase {
  const Config* config;
  Problem problem;
};

/// Returns the problems of a configuration. A profile is that of one problem.
std::vector<Problem> problems_of(const EmulateOptions& options, const Family& family,
                                 const Config& config, const DeviceLimits& limits) {
  if (options.seq_len || options.profile || packed_seq_len(options.problems)) {
    ProblemOptions one = options.problems;
    if (options.seq_len) {
      one.seq_lens = {*options.seq_len};
    }
    const std::int64_t usual = packed_seq_len(one).value_or(kWholeSeqLen);
    return {problem_for(family, config, one, options.seq_len.value_or(usual))};
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

/// The kinds of input of the problem that has most of them.
std::vector<std::string> names_of_inputs(const std::vector<EmulatedCase>& cases) {
  const auto kinds_of = [](const EmulatedCase& one) { return input_kinds(one.problem); };
  const auto kinds =
      std::ranges::max(mapped(cases, kinds_of), {}, &std::span<const InputKind>::size);
  return mapped(kinds, [](InputKind kind) { return std::string(input_kind_name(kind)); });
}

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
  report.inputs = names_of_inputs(cases);
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
  report.configs = filtered(rows, is_finished);
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

// The reference results take batch * heads * seq_len * seq_len_kv * d_head steps on one core.
constexpr std::int64_t kMostEmulatedSeqLen = 4096;
constexpr std::int64_t kMostEmulatedKeys = 65536;
constexpr std::int64_t kMostEmulatedHeads = 128;
constexpr std::int64_t kMostSchedules = 1000;
// More than one head, so that the row stride differs from the row length.
constexpr std::int64_t kDefaultHeads = 2;

void add_problem_of_emulate(CLI::App& sub, EmulateOptions& options) {
  const OptionScope scope(sub, option_group::kProblem);
  ProblemOptions& problems = options.problems;
  problems.usual_batch = 1;
  problems.heads = kDefaultHeads;
  add_preset_option(sub, problems);
  add_integer(sub, "--seq",
              fmt::format("sequence length (default: 256, and {}, full and causal)", kRaggedSeqLen),
              1, kMostEmulatedSeqLen, options.seq_len);
  add_binding_options(sub, problems);
  add_causal_options(sub, problems);
  add_integer(sub, "--batch", "sequences (default: 1)", 1, kMostEmulatedHeads, problems.batch);
  add_integer(sub, "--heads", "attention heads (default: 2)", 1, kMostEmulatedHeads,
              *problems.heads);
  add_detail_options(sub, problems, kMostEmulatedKeys);
}

void add_schedule_options(CLI::App& sub, EmulateOptions& options) {
  const OptionScope scope(sub, option_group::kMeasuring);
  add_integer(sub, "--schedules", "runs of each input, differently interleaved (default: 2)", 1,
              kMostSchedules, options.schedules);
  add_integer(sub, "--seed", "seed of inputs and schedules (default: 1)", 0,
              std::numeric_limits<std::int64_t>::max() - kMostSchedules, options.seed);
  add_value(
      sub, "--timing", "early|late|random|lagging",
      "when asynchronous copies happen (default: once late, "
      "then random); lagging: late, and in each schedule another warp of each block, "
      "from the one with --seed's number on, goes "
      "on only when nothing else can",
      options.timing, [](const std::string& text) {
        constexpr std::array<std::string_view, 4> kTimings{"early", "late", "random", "lagging"};
        const auto* const found = std::ranges::find(kTimings, text);
        if (found == kTimings.end()) {
          throw Error(ExitCode::usage, fmt::format("'{}' is not a timing", text), "--timing",
                      "choose early, late, random or lagging");
        }
        return static_cast<EmulatedTiming>(found - kTimings.begin());
      });
  add_value(sub, "--check", "CHECK,...",
            "what counts as a mistake besides wrong numbers: mem, init, race, sync, deadlock, "
            "trap, schedules, launches, several, or all (the default)",
            options.checks, parse_emulation_checks);
  sub.add_flag_callback(
         "--no-checks",
         [&options] {
           options.checks = parse_emulation_checks("mem,sync,deadlock,trap,schedules");
         },
         "do not look for races and uninitialised reads, which is faster")
      ->excludes("--check");
  sub.add_flag("--profile", options.profile,
               "count instructions, shared-memory wavefronts and global sectors");
}

}  // namespace

void add_emulate_command(const Subcommands& all) {
  const auto [sub, options] =
      add_subcommand(all, "emulate", "Run kernels' PTX on the CPU: results, races, bank conflicts",
                     emulate_kernels);
  add_problem_of_emulate(sub, options);
  add_schedule_options(sub, options);
  sub.add_flag("--strict", options.strict, "exit with 6 unless every configuration is right")
      ->group(option_group::kOutput);
  add_kernel_options(sub, options.kernels, SpaceOption::yes);
  add_configs_option(sub, options.configs, "configuration, in place of a space; repeatable")
      ->excludes("--space");
  add_arch_option(sub, options.arch);
  add_compile_settings(sub, options.compile);
  add_output_options(sub, options.output);
  sub.footer(
      R"(Nothing is timed. Without --arch, the architecture is sm_90a, or one
that the kernels need.
Exit code 6: something is wrong or flagged. 5: nothing could be emulated.

Examples:
  fatune emulate --space tune
  fatune emulate --seq 200 --causal --schedules 5 --format json
  fatune emulate --profile \
    --config "(FP16,128,64,64,4):async+swizzled+load_2_2_2_tiles")");
}

}  // namespace fatune
