#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "base/ranges.hpp"
#include "cli/subcommands.hpp"
#include "commands/check/check.hpp"
#include "engine/choice/plan_problems.hpp"
#include "engine/compiling.hpp"
#include "engine/interrupt.hpp"
#include "model/error_rule.hpp"
#include "plan/planner.hpp"

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
  if (!options.problems.seq_lens.empty()) {
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

class Findings {
 public:
  void add(const RunReport& report) {
    for (const ProblemReport& problem : report.problems) {
      for (const auto* results : {&problem.ranking, &problem.failures}) {
        for (const Result& result : *results) {
          add(problem.problem, report.policy.seed, result);
        }
      }
    }
  }
  [[nodiscard]] std::vector<CheckedInput>& rows() { return rows_; }

 private:
  void add(const Problem& problem, std::uint64_t seed, const Result& result) {
    const OutcomeKind outcome = outcome_kind(result.outcome);
    const Verification* verification = verification_of(result.outcome);
    const bool measured = std::holds_alternative<Measured>(result.outcome);
    const std::size_t first = rows_.size();
    if (verification != nullptr) {
      for (const ErrorStats& stats : verification->inputs) {
        const auto fault = find_fault(stats);
        rows_.push_back({problem, result.short_form, seed, fault ? outcome : OutcomeKind::right,
                         stats, fault.value_or(""), rows_of(verification->rows, stats)});
      }
    }
    // Faults that no single input shows, such as a crash, overwritten inputs or a fault of a later
    // run.
    if (!measured && !has_fault(first)) {
      rows_.push_back({problem, result.short_form, seed, outcome, std::nullopt,
                       outcome_summary(result.outcome)});
    } else if (first == rows_.size()) {
      rows_.push_back({problem, result.short_form, seed, OutcomeKind::not_verified, std::nullopt,
                       "no input was compared"});
    }
  }

  /// Whether one of the rows from `first` on has a fault.
  [[nodiscard]] bool has_fault(std::size_t first) const {
    return std::any_of(rows_.begin() + static_cast<std::ptrdiff_t>(first), rows_.end(),
                       [](const CheckedInput& row) { return !is_right(row); });
  }

  std::vector<CheckedInput> rows_;
};

/// The checks of all planned configurations, and their rows.
class ConfigCheck {
 public:
  ConfigCheck(const CheckOptions& options, PlannedRun& run, const Target& target, CubinCache* cache)
      : options_(options), run_(run), target_(target), cache_(cache) {}

  /// Returns false if it was interrupted.
  bool compare_outputs(int seed) {
    const RunEnd end = measure(one_run_each(options_, seed), run_, target_, {}, cache_);
    findings_.add(end.report);
    return end.complete;
  }

  bool run_under(const std::string& program, SanitizerTool tool, int seed) {
    return check_under_sanitizer({program, tool, under_tool(one_run_each(options_, seed))}, run_,
                                 target_, cache_, findings_.rows());
  }

  /// Checks without a GPU, with all seeds.
  bool emulate() {
    return check_by_emulation(options_, options_.seeds, run_, target_, cache_, findings_.rows());
  }

  [[nodiscard]] const std::vector<CheckedInput>& rows() { return findings_.rows(); }

 private:
  const CheckOptions& options_;
  PlannedRun& run_;
  const Target& target_;
  CubinCache* cache_;
  Findings findings_;
};

bool carry_out(ConfigCheck& check, const CheckOptions& options, const std::string& program) {
  bool complete = true;
  for (int seed = 0; seed < options.seeds && complete; ++seed) {
    complete = check.compare_outputs(seed);
    for (const SanitizerTool tool : options.sanitizers) {
      complete = complete && check.run_under(program, tool, seed);
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
  if (!complete) {
    return ExitCode::interrupted;
  }
  return std::ranges::all_of(rows, [](const CheckedInput& row) { return is_right(row); })
             ? ExitCode::ok
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

/// Checks that configurations compute the right results on every kind of input. Ranks nothing.
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
  ConfigCheck check(options, run, target, cache.get());
  if (!target.measured()) {
    announce_emulation(target, options.output);
  }
  const bool complete = target.measured() ? carry_out(check, options, program) : check.emulate();
  const std::size_t planned = count_checks(run, options, target.measured());
  print_document(
      check_document(check.rows(), {check.rows().size(), planned, complete}, options.count_rows),
      options.output);
  return exit_code_of(check.rows(), complete);
}

constexpr std::int64_t kMostSeeds = 10000;

void add_tools(const std::vector<std::string>& texts, CheckOptions& options) {
  std::vector<SanitizerTool>& tools = options.sanitizers;
  for (const std::string& text : texts) {
    for (const SanitizerTool tool : parse_sanitizer_tools(text)) {
      if (!is_among(tool, tools)) {
        tools.push_back(tool);
      }
    }
  }
}

void add_checking_options(CLI::App& app, CheckOptions& options) {
  const OptionScope scope(app, option_group::kMeasuring);
  app.add_option_function<std::vector<std::string>>(
         "--sanitizer",
         [&options](const std::vector<std::string>& texts) { add_tools(texts, options); },
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
