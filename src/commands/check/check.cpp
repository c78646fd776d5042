#include "commands/check/check_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/cuda_installation.hpp"
#include "base/file_tree.hpp"
#include "base/ranges.hpp"
#include "base/task_pool.hpp"
#include "cli/subcommands.hpp"
#include "engine/candidate_maker.hpp"
#include "engine/choice/plan_problems.hpp"
#include "engine/compiling.hpp"
#include "engine/interrupt.hpp"
#include "engine/progress.hpp"
#include "engine/session.hpp"
#include "inspect/sanitizer_report.hpp"
#include "model/error_rule.hpp"
#include "plan/config_text.hpp"
#include "plan/planner.hpp"
#include "proof/findings.hpp"
#include "proof/small_emulation.hpp"

namespace fatune {
namespace {

/// Options of `check`. `policy.seed` is the first seed.
struct CheckOptions : MeasureOptions {
  std::vector<std::string> configs;  ///< instead of a space
  int seeds = 1;
  bool small = false;                     ///< the small problem in place of the full one
  std::vector<SanitizerTool> sanitizers;  ///< every configuration runs under these too
};

struct CheckedSize {
  std::int64_t batch;
  std::int64_t seq_len;
  std::int64_t heads;
};
constexpr CheckedSize kFull{16, 2048, 16};
constexpr CheckedSize kSmall{1, 512, 1};

// Two heads, so that the row stride differs from the row length.
constexpr CheckedSize kRagged{1, kRaggedSeqLen, 2};

/// Sets what the options leave open. A small problem has as many heads as the keys, if the options
/// say how many these have.
ProblemOptions sized(ProblemOptions problems, const CheckedSize& size) {
  const auto kv_heads = problems.details.find(&find_detail("kv_heads"));
  const bool keys_decide = size.batch == 1 && kv_heads != problems.details.end();
  problems.seq_lens = {size.seq_len};
  problems.usual_batch = size.batch;
  problems.heads =
      problems.heads.value_or(keys_decide ? std::get<std::int64_t>(kv_heads->second) : size.heads);
  return problems;
}

ProblemPlan& plan_of(const Problem& problem, std::vector<ProblemPlan>& plans) {
  const auto found = std::ranges::find(plans, problem, &ProblemPlan::problem);
  if (found != plans.end()) {
    return *found;
  }
  ProblemPlan plan;
  plan.problem = problem;
  return plans.emplace_back(std::move(plan));
}

/// Plans each configuration on the problems that the options name, else on default_problems().
std::vector<ProblemPlan> problems_of(const CheckOptions& options, const Family& family,
                                     const Plan& plan, const DeviceLimits& limits) {
  if (!options.problems.seq_lens.empty() || packed_seq_len(options.problems)) {
    return plan_problems({{&family, plan}}, options.problems);
  }
  // A sanitizer makes kernels a hundred times slower.
  const bool small = options.small || !options.sanitizers.empty();
  const ProblemOptions whole = sized(options.problems, small ? kSmall : kFull);
  const ProblemOptions ragged = sized(options.problems, kRagged);
  std::vector<ProblemPlan> plans;
  for (const Config& config : plan.kept) {
    for (const Problem& problem : default_problems(family, config, whole, ragged, limits)) {
      plan_of(problem, plans).configs.push_back(config);
    }
  }
  return plans;
}

Plan plan_of(const KernelSet& kernels, const CheckOptions& options) {
  return options.configs.empty()
             ? make_plan(kernels.family(), choose_space(kernels, options.kernels),
                         binding_of(options.problems))
             : Plan{parse_configs(kernels.families, options.configs, options.problems), {}};
}

/// Limits the options to one sample of each configuration: the run that is verified.
MeasureOptions one_run_each(MeasureOptions options, int seed) {
  options.policy.strategy = Strategy::exhaustive;
  options.policy.warmup = 0;
  options.policy.repeats = 1;
  options.policy.seed += static_cast<std::uint64_t>(seed);
  options.store.off = true;
  options.device_rates = false;
  return options;
}

/// Turns off a sample's preparations, which take long under a tool and prove nothing there.
MeasureOptions under_tool(MeasureOptions options) {
  options.policy.flush_l2 = false;
  options.policy.device_gate = false;
  options.count_rows = false;
  return options;
}

bool are_right(const std::vector<CheckedInput>& rows) {
  return std::ranges::all_of(rows, is_right);
}

CheckedInput with_outcome(CheckedInput row, OutcomeKind outcome, std::string detail) {
  row.outcome = outcome;
  row.detail = std::move(detail);
  return row;
}

/// Adds a copy of `base` for each input that was compared. `faulty`: the outcome of one with a
/// fault.
void add_inputs(const CheckedInput& base, const std::vector<ErrorStats>& inputs,
                const std::vector<RowMismatches>& mismatches, OutcomeKind faulty,
                std::vector<CheckedInput>& rows) {
  for (const ErrorStats& stats : inputs) {
    const auto fault = find_fault(stats);
    rows.push_back(with_outcome(base, fault ? faulty : OutcomeKind::right, fault.value_or("")));
    rows.back().stats = stats;
    rows.back().rows = rows_of(mismatches, stats);
  }
}

std::vector<CheckedInput> rows_of_result(const Result& result, const CheckedInput& base) {
  const OutcomeKind outcome = outcome_kind(result.outcome);
  std::vector<CheckedInput> rows;
  if (const Verification* const verification = verification_of(result.outcome)) {
    add_inputs(base, verification->inputs, verification->rows, outcome, rows);
  }
  // Faults that no single input shows, such as a crash, overwritten inputs or a fault of a later
  // run.
  if (!std::holds_alternative<Measured>(result.outcome) && are_right(rows)) {
    rows.push_back(with_outcome(base, outcome, outcome_summary(result.outcome)));
  } else if (rows.empty()) {
    rows.push_back(with_outcome(base, OutcomeKind::not_verified, "no input was compared"));
  }
  return rows;
}

/// All results of the report: ranked ones, then failures, problem by problem.
template <typename Visit>
void for_each_result(const RunReport& report, const Visit& visit) {
  for (const ProblemReport& problem : report.problems) {
    for (const auto* results : {&problem.ranking, &problem.failures}) {
      for (const Result& result : *results) {
        visit(problem.problem, result);
      }
    }
  }
}

/// The checks of all planned configurations, and their rows.
struct Checking {
  const CheckOptions& options;
  PlannedRun& run;
  const Target& target;
  CubinCache* cache;
  std::vector<CheckedInput> rows{};
};

void add_rows(std::vector<CheckedInput> more, Checking& check) {
  std::ranges::move(more, std::back_inserter(check.rows));
}

/// Returns false if it was interrupted.
bool compare_outputs(int seed, Checking& check) {
  const RunEnd end =
      measure(one_run_each(check.options, seed), check.run, check.target, {}, check.cache);
  for_each_result(end.report, [&](const Problem& problem, const Result& result) {
    add_rows(rows_of_result(result, {problem, result.short_form, end.report.policy.seed}), check);
  });
  return end.complete;
}

struct Planned {
  const Config* config;
  const Problem* problem;
};

std::vector<Planned> planned_configs(const PlannedRun& run) {
  std::vector<Planned> all;
  for (const ProblemPlan& plan : run.problems) {
    for (const Config& config : plan.configs) {
      all.push_back({&config, &plan.problem});
    }
  }
  return all;
}

SanitizerFinding as_finding(const EmulatedFinding& finding) {
  SanitizerFinding said;
  said.kind = finding.kind;
  said.what = finding.text;
  said.place = place_text(finding.source, finding.ptx_line);
  if (const auto& other = finding.other) {
    said.against.push_back(fmt::format("{} by thread {} in block {} at {}", other->access,
                                       other->thread, other->block,
                                       place_text(other->source, other->ptx_line)));
  }
  if (finding.block != EmulatedFinding::kNobody) {
    said.thread = fmt::format("{}", finding.thread);
    said.block = fmt::format("{}", finding.block);
  }
  said.group = finding.group;
  said.detail = finding.ptx;
  said.count = finding.count;
  return said;
}

std::vector<CheckedInput> rows_of_emulation(const SmallEmulation& emulated, CheckedInput base) {
  const EmulatedConfig& row = emulated.row;
  base.problem = compared_part(emulated.on);
  std::vector<CheckedInput> rows;
  if (row.outcome == OutcomeKind::flagged) {
    rows.push_back(with_outcome(base, row.outcome, findings_summary(row.findings, row.groups)));
    rows.back().findings = mapped(row.findings, as_finding);
  }
  add_inputs(base, row.inputs, row.rows, OutcomeKind::wrong_result, rows);
  if (row.outcome != OutcomeKind::right && are_right(rows)) {  // faults that no single input shows
    rows.push_back(with_outcome(
        base, row.outcome == OutcomeKind::not_covered ? OutcomeKind::not_verified : row.outcome,
        row.detail));
  }
  return rows;
}

/// Returns no rows if an interrupt prevented the check.
std::vector<CheckedInput> emulate_one(const Planned& planned, const Checking& check,
                                      const EmulationSettings& settings, EmulatedInputs& inputs) {
  const auto& [config, problem] = planned;
  const DeviceLimits& limits = check.target.limits;
  const Family& family = check.run.kernels.families.of(*config);
  CheckedInput base{*problem, short_form(family, *config), inputs.seed()};
  base.tool = kEmulatorTool;
  if (const auto obstacle = find_obstacle({family, *config, *problem, limits})) {
    return {with_outcome(base, outcome_kind(*obstacle), outcome_summary(*obstacle))};
  }
  const SmallEmulation emulated =
      emulate_small({family, *config, *problem, limits, check.cache}, nullptr, settings, inputs);
  return emulated.row.outcome == OutcomeKind::stopped ? std::vector<CheckedInput>{}
                                                      : rows_of_emulation(emulated, base);
}

void emulate_with_seed(std::uint64_t seed, const std::vector<Planned>& all, Progress& progress,
                       Checking& check) {
  EmulationSettings settings;
  settings.schedules = small_schedules(seed);
  settings.count_rows = check.options.count_rows;
  settings.stopped = InterruptWatch::interrupted;
  EmulatedInputs inputs(seed);
  std::vector<std::vector<CheckedInput>> rows(all.size());
  for_each_index(all.size(), job_count(check.options.compile), [&](std::size_t i) {
    if (!InterruptWatch::interrupted()) {
      progress.begin_problem(*all[i].problem);
      rows[i] = emulate_one(all[i], check, settings, inputs);
      progress.step();
    }
  });
  for (std::vector<CheckedInput>& checked : rows) {
    add_rows(std::move(checked), check);
  }
}

/// Checks without a GPU, with all seeds. Each configuration is emulated on a small problem that
/// represents its own (proof/small_problem.hpp). Returns false if the user has interrupted it.
bool check_by_emulation(Checking& check) {
  const CheckOptions& options = check.options;
  const std::vector<Planned> all = planned_configs(check.run);
  Progress progress(options.output, all.size() * static_cast<std::size_t>(options.seeds));
  for (int i = 0; i < options.seeds && !InterruptWatch::interrupted(); ++i) {
    emulate_with_seed(options.policy.seed + static_cast<std::uint64_t>(i), all, progress, check);
  }
  progress.finish();
  return !InterruptWatch::interrupted();
}

namespace fs = std::filesystem;

constexpr std::size_t kMostLogBytes = std::size_t{64} << 20;

/// Returns the report on all processes that the tool has examined. Nothing: the tool wrote none.
std::optional<SanitizerReport> read_logs(const fs::path& folder) {
  std::vector<fs::path> files(fs::directory_iterator(folder), {});
  std::ranges::sort(files);
  std::optional<SanitizerReport> report;
  for (const fs::path& file : files) {
    const SanitizerReport one = parse_sanitizer_report(read_disk_file(file, kMostLogBytes));
    if (report) {
      merge(one, *report);
    } else {
      report = one;
    }
  }
  return report;
}

std::string findings_text(const SanitizerReport& report) {
  if (report.findings.empty()) {
    return fmt::format("{} errors, {} warnings that fatune cannot read", report.errors,
                       report.warnings);
  }
  const std::size_t more = report.findings.size() - 1;
  const std::int64_t groups = count_groups(report.findings);
  std::string text = describe(report.findings.front());
  text += more == 0 ? "" : fmt::format("; and {} more findings", more);
  return more == 0 || groups == 0
             ? text
             : text + fmt::format(", the races in {} group{}", groups, groups == 1 ? "" : "s");
}

/// Returns why a report without findings proves nothing. Nothing: it is complete.
std::optional<std::string> why_unfinished(const std::optional<SanitizerReport>& report) {
  if (!report) {
    return "the tool wrote no report";
  }
  if (report->complete && report->problems.empty()) {
    return std::nullopt;
  }
  return report->problems.empty()
             ? "the tool's report ends before its summary"
             : fmt::format("the tool could not do its work: {}", fmt::join(report->problems, "; "));
}

void judge(const Result& result, const std::optional<SanitizerReport>& report, CheckedInput& row) {
  const auto say = [&](OutcomeKind outcome, const std::string& detail) {
    row.outcome = outcome;
    row.detail = detail.empty() ? detail : row.tool + ": " + detail;
  };
  const auto unfinished = why_unfinished(report);
  if (report && (!report->findings.empty() || report->errors > 0 || report->warnings > 0)) {
    row.findings = report->findings;
    say(OutcomeKind::flagged, findings_text(*report));
  } else if (!std::holds_alternative<Measured>(result.outcome)) {
    say(outcome_kind(result.outcome), outcome_summary(result.outcome));
  } else if (unfinished) {
    say(OutcomeKind::not_verified, *unfinished);
  } else {
    say(OutcomeKind::right, "");
  }
}

/// A check under compute-sanitizer.
struct SanitizerCheck {
  std::string program;  ///< compute-sanitizer's path
  SanitizerTool tool = SanitizerTool::memcheck;
  MeasureOptions options;  ///< they describe one run of each configuration
};

/// Checks the run's only configuration. Nothing: the user has interrupted it. Precondition: one
/// problem with one configuration.
std::optional<CheckedInput> check_one(const SanitizerCheck& tool, const Checking& check) {
  const PlannedRun& run = check.run;
  const ProblemPlan& plan = run.problems.front();
  const ScratchFolder logs;
  MeasureOptions options = tool.options;
  options.launcher =
      sanitizer_words({tool.program, tool.tool, logs.path().string(),
                       function_names(run.kernels.families.of(plan.configs.front()))});
  const RunEnd end = measure(options, run, check.target, {}, check.cache);
  const Result* only = nullptr;
  for_each_result(end.report, [&](const Problem&, const Result& result) {
    only = only == nullptr ? &result : only;
  });
  if (!end.complete || only == nullptr) {
    return std::nullopt;
  }
  CheckedInput row{plan.problem, only->short_form, options.policy.seed};
  row.tool = enum_name(tool.tool);
  judge(*only, read_logs(logs.path()), row);
  return row;
}

/// Runs every configuration of the plan on every problem in its own worker under the tool, and adds
/// a row for each: "flagged" if the tool has findings, else the outcome of the run if it failed,
/// else "not_verified" if the tool did not finish, else "right". Returns false if the user has
/// interrupted it. Throws as measure(). Leaves the run as it was.
bool check_under_sanitizer(const SanitizerCheck& tool, Checking& check) {
  const std::vector<ProblemPlan> all = check.run.problems;
  bool complete = true;
  for (const ProblemPlan& plan : all) {
    for (const Config& config : plan.configs) {
      check.run.problems = {plan};
      check.run.problems.front().configs = {config};
      auto row = complete ? check_one(tool, check) : std::nullopt;
      complete = row.has_value();
      if (row) {
        check.rows.push_back(*std::move(row));
      }
    }
  }
  check.run.problems = all;
  return complete;
}

/// Returns the path of compute-sanitizer. Throws Error(bad_file), with how to get it, if there is
/// none.
std::string sanitizer_program() {
  return needed_tool(find_tool("compute-sanitizer"), "compute-sanitizer, which --sanitizer needs,",
                     {},
                     "it is part of a CUDA toolkit (apt: cuda-sanitizer-13-0); or set its path in "
                     "FATUNE_COMPUTE_SANITIZER");
}

bool check_on_gpu(const std::string& program, Checking& check) {
  bool complete = true;
  for (int seed = 0; seed < check.options.seeds && complete; ++seed) {
    complete = compare_outputs(seed, check);
    for (const SanitizerTool tool : check.options.sanitizers) {
      complete =
          complete && check_under_sanitizer(
                          {program, tool, under_tool(one_run_each(check.options, seed))}, check);
    }
  }
  return complete;
}

/// Counts the checks: the outputs of each configuration with each seed, and on a GPU once more
/// under each tool.
std::size_t count_checks(const PlannedRun& run, const CheckOptions& options, bool on_gpu) {
  const std::size_t runs = on_gpu ? 1 + options.sanitizers.size() : 1;
  return count_configs(run.problems, *run.search) * static_cast<std::size_t>(options.seeds) * runs;
}

ExitCode exit_code_of(const std::vector<CheckedInput>& rows, bool complete) {
  return !complete         ? ExitCode::interrupted
         : are_right(rows) ? ExitCode::ok
                           : ExitCode::failed_outcomes;
}

/// Requires a GPU for sanitizers and without emulation, because emulation replaces only the
/// comparison of outputs.
std::vector<Target> targets_of(const CheckOptions& options, const KernelSet& kernels) {
  TargetOptions target = options.target;
  target.require_gpu = target.require_gpu || !options.emulate || !options.sanitizers.empty();
  return choose_targets(target, kernels.tree, kernels.families.all());
}

void announce_emulation(const Target& target, const OutputOptions& output) {
  print_note(output, fmt::format("NOT RUN ON A GPU: {}; emulating on the CPU, for {}, small "
                                 "problems that stand in for those requested",
                                 target.why_not_measured, target.limits.name));
}

ExitCode check(const CheckOptions& options) {
  const std::string program = options.sanitizers.empty() ? "" : sanitizer_program();
  KernelSet kernels = choose_kernels(options.kernels, options.configs);
  const Plan plan = plan_of(kernels, options);
  const Target target = targets_of(options, kernels).front();
  std::vector<ProblemPlan> problems = problems_of(options, kernels.family(), plan, target.limits);
  say_left_out(options.problems, problems, options.output);
  PlannedRun run{std::move(kernels), {}, std::move(problems), std::nullopt};
  const InterruptWatch watch;
  const auto cache = open_cache(options.compile);
  Checking check{options, run, target, cache.get()};
  if (!target.measured()) {
    announce_emulation(target, options.output);
  }
  const bool complete =
      target.measured() ? check_on_gpu(program, check) : check_by_emulation(check);
  const std::size_t planned = count_checks(run, options, target.measured());
  print_document(
      check_document(check.rows, {check.rows.size(), planned, complete}, options.count_rows),
      options.output);
  return exit_code_of(check.rows, complete);
}

constexpr std::int64_t kMostSeeds = 10000;

void add_checking_options(CLI::App& app, CheckOptions& options) {
  const OptionScope scope(app, option_group::kMeasuring);
  app.add_option_function<std::vector<std::string>>(
         "--sanitizer",
         [&options](const std::vector<std::string>& texts) {
           for (const std::string& text : texts) {
             for (const SanitizerTool tool : parse_sanitizer_tools(text)) {
               append_new(options.sanitizers, tool);
             }
           }
         },
         "run under NVIDIA's compute-sanitizer too: memcheck, racecheck, synccheck, initcheck, "
         "several, or all; repeatable; without --seq, on the small problem")
      ->type_name("TOOL,...")
      ->allow_extra_args(false);
  add_integer(app, "--seeds", "check with N seeds, starting at --seed (default: 1)", 1, kMostSeeds,
              options.seeds);
  add_integer(app, "--seed", "first seed of the random inputs (default: 1)", 0,
              std::numeric_limits<std::int64_t>::max() - kMostSeeds, options.policy.seed);
}

}  // namespace

void add_check_command(const Subcommands& all) {
  const auto [sub, options] =
      add_subcommand(all, "check", "Check that configurations compute the right thing", check);
  add_configs_option(sub, options.configs, "configuration, in place of a space; repeatable");
  sub.add_flag("--small", options.small,
               "batch 1, seq 512, one head, in place of batch 16, seq 2048, 16 heads")
      ->group(option_group::kProblem);
  sub.add_flag("--diff", options.count_rows, "say which rows are wrong: by position, head and tile")
      ->group(option_group::kOutput);
  add_checking_options(sub, options);
  add_problem_options(
      sub, options.problems,
      fmt::format("2048, or 512 with --small or --sanitizer; and {}, full and causal",
                  kRaggedSeqLen));
  add_kernel_options(sub, options.kernels, SpaceOption::yes);
  add_target_options(sub, options.target);
  add_emulate_option(sub, options.emulate);
  add_compile_settings(sub, options.compile);
  add_output_options(sub, options.output);
  sub.footer(
      R"(Exit code 6: something is wrong. Tables show the worst input of each; JSON and CSV show all.
Without a GPU, configurations are emulated on the CPU on small problems, under a race checker.

Examples:
  fatune check --small
  fatune check --space all --seeds 5 --format csv
  fatune check --seq 1000 --causal --diff \
    --config "(FP16,128,64,64,4):async+load_2_2_2_tiles"
  fatune check --sanitizer racecheck,memcheck --space prog
  FATUNE_COMPUTE_SANITIZER=/opt/compute-sanitizer fatune check --sanitizer all)");
}

}  // namespace fatune
