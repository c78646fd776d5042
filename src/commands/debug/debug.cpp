#include "commands/debug/debug.hpp"

#include <limits>
#include <utility>

#include <fmt/format.h>

#include "app/choice/default_problems.hpp"
#include "app/choice/plan_problems.hpp"
#include "app/console/progress.hpp"
#include "app/run/measuring.hpp"
#include "attention/input_kind.hpp"
#include "cli/subcommands.hpp"
#include "core/ranges.hpp"
#include "debug/cause.hpp"
#include "debug/compare.hpp"
#include "emit/debug_report.hpp"
#include "emit/document/render.hpp"
#include "emit/output_file.hpp"
#include "emulation/finding_groups.hpp"
#include "plan/config_text.hpp"
#include "plan/planner.hpp"
#include "process/worker_process.hpp"

namespace fatune {
namespace {

/// Options of `debug`, which compares one configuration's intermediates with those of the algorithm
/// on the CPU.
struct DebugOptions {
  std::string config;  ///< short form or kernel name
  KernelOptions kernels;
  /// The length, in blocks of query rows or in positions. Neither is given: default_problems(), the
  /// whole one with 4 blocks.
  std::optional<std::int64_t> seq_blocks;
  std::optional<std::int64_t> seq_len;
  ProblemOptions problems;  ///< its batch and its heads are ignored
  InputKind init = InputKind::normal;
  std::uint64_t seed = 1;
  bool emulate = true;  ///< run the PTX on the CPU if there is no GPU
  TargetOptions target;
  CompileSettings compile;
  OutputOptions output;
  std::optional<std::filesystem::path> out_dir;
};

void check_size(const HeadProblem& head) {
  const std::int64_t bytes = 4 * extents_of(head).values(head.d_head);
  if (bytes > static_cast<std::int64_t>(kMaxBlobBytes)) {
    throw Error(ExitCode::too_large,
                fmt::format("the intermediates of {} keys are {} MiB; at most {} MiB can be shown",
                            head.seq_len, bytes >> 20, kMaxBlobBytes >> 20),
                "--seq-blocks", "use a shorter sequence: a wrong step shows there too");
  }
}

ProblemOptions one_head_of(ProblemOptions problems) {
  problems.batch = 1;
  problems.heads = 1;
  problems.details.erase(&find_detail("kv_heads"));
  return problems;
}

/// Throws Error(usage) for a problem with details, because the steps on the CPU have none. A window
/// as long as the sequence does not count as one.
void check_shown(Problem problem) {
  problem.window = problem.window < problem.seq_len ? problem.window : 0;
  for (const ProblemDetail& detail : kProblemDetails) {
    if (is_unusual(detail, problem)) {
      throw Error(ExitCode::usage,
                  fmt::format("debug cannot show the steps of a problem with {} {}", detail.name,
                              detail_text(detail, problem)),
                  "--preset", "leave it out, or choose another");
    }
  }
}

HeadProblem head_of(const Problem& problem, const BlockTiles& tiles) {
  check_shown(problem);
  const HeadProblem head{problem.seq_len, problem.d_head, problem.dtype, problem.causal, tiles};
  check_size(head);
  return head;
}

/// Returns a configuration's problems of one head, tiled as the family declares, or as BlockTiles
/// by default: the one of the given length, or default_problems(). Throws Error(too_large) if the
/// intermediates of one are more than a worker can send.
std::vector<HeadProblem> head_problems(const Family& family, const Config& config,
                                       const DebugOptions& options, const DeviceLimits& limits) {
  constexpr std::int64_t kBlocks = 4;
  const BlockTiles tiles = block_tiles(family, config).value_or(BlockTiles{});
  ProblemOptions whole = one_head_of(options.problems);
  whole.seq_lens = {
      options.seq_len.value_or(options.seq_blocks.value_or(kBlocks) * tiles.query_rows)};
  ProblemOptions ragged = whole;
  ragged.seq_lens = {kRaggedSeqLen};
  const bool named = options.seq_len || options.seq_blocks;
  return mapped(named ? std::vector{problem_for(family, config, whole, whole.seq_lens.front())}
                      : default_problems(family, config, whole, ragged, limits),
                [&](const Problem& problem) { return head_of(problem, tiles); });
}

/// One configuration on one problem, on its way from options to a report.
class Debugging {
 public:
  Debugging(const DebugOptions& options, const Family& family, const Config& config,
            const HeadProblem& head)
      : options_(options),
        family_(family),
        config_(config),
        head_(head),
        inputs_(make_head_inputs(head_, options.init, options.seed)) {
    report_.family = family.name;
    report_.config = short_form(family, config);
    report_.head = head_;
    report_.declares_steps = family.debug.has_value();
    report_.init = input_kind_name(options.init);
    report_.seed = options.seed;
  }

  void run_on(const Target& target) {
    report_.why_not_measured = target.why_not_measured;
    if (target.measured()) {
      run_on_gpu(target);
    } else if (options_.emulate) {
      emulate(target);
    }
  }

  void compare() {
    comparison_ = compare_steps(head_, inputs_, kernel_);
    report_.checks = comparison_.checks;
    if (const StepCheck* const first = first_wrong(comparison_.checks)) {
      report_.likely_cause =
          likely_cause(head_, inputs_, kernel_.value().values, comparison_, *first);
    }
  }

  void write_files(const std::filesystem::path& folder) const {
    write_debug_files(folder, {head_, inputs_, comparison_, kernel_},
                      render(debug_document(report_), OutputFormat::json));
  }

  void set_also_right(std::vector<std::string> problems) {
    report_.also_right = std::move(problems);
  }
  [[nodiscard]] const DebugReport& report() const { return report_; }

 private:
  [[nodiscard]] DebuggedKernel kernel_for(const Target& target) const {
    return {family_, config_, head_, inputs_, target.limits, options_.compile};
  }

  void run_on_gpu(const Target& target) {
    report_.device = target.limits.name;
    const DebugResult result =
        run_kernel(kernel_for(target),
                   gpu_setup(target, target.gpus.front(), options_.target, options_.output));
    if (const auto* outcome = std::get_if<Outcome>(&result)) {
      fail(*outcome);
    } else {
      take(std::get<DebugRun>(result));
    }
  }

  void emulate(const Target& target) {
    const EmulatedDebugResult result = emulate_kernel_for_debug(kernel_for(target));
    if (const auto* outcome = std::get_if<Outcome>(&result)) {
      fail(*outcome);
    } else if (const auto* not_emulated = std::get_if<NotEmulated>(&result)) {
      report_.why_not_emulated = not_emulated->why;
    } else {
      take(std::get<EmulatedDebug>(result));
    }
  }

  void fail(const Outcome& outcome) {
    report_.failure = DebugFailure{outcome_kind(outcome), outcome_summary(outcome)};
  }

  void take(const DebugRun& run) { kernel_ = read_kernel_values(head_, run.output, run.dump); }

  void take(const EmulatedDebug& shown) {
    report_.emulated = true;
    report_.findings_count = static_cast<std::int64_t>(shown.findings.size());
    if (!shown.findings.empty()) {
      report_.first_finding = findings_summary(shown.findings, shown.groups);
    }
    if (shown.finished) {
      take(shown.run);
    } else {
      report_.failure = DebugFailure{OutcomeKind::flagged, report_.first_finding};
    }
  }

  const DebugOptions& options_;
  const Family& family_;
  const Config& config_;
  HeadProblem head_;
  HeadInputs inputs_;
  std::optional<KernelValues> kernel_;
  Comparison comparison_;
  DebugReport report_;
};

/// Runs the kernel on each problem until it is not right. Returns that one, or the first if all are
/// right.
std::unique_ptr<Debugging> debug_on(const std::vector<HeadProblem>& heads,
                                    const DebugOptions& options, const Family& family,
                                    const Config& config, const Target& target,
                                    Progress& progress) {
  std::unique_ptr<Debugging> first;
  std::vector<std::string> right;
  for (const HeadProblem& head : heads) {
    progress.begin_problem(head.problem());
    auto next = std::make_unique<Debugging>(options, family, config, head);
    next->run_on(target);
    next->compare();
    progress.step();
    if (!is_right(next->report())) {
      next->set_also_right(std::move(right));
      return next;
    }
    right.push_back(describe(head.problem()));
    first = first ? std::move(first) : std::move(next);
  }
  right.erase(right.begin());  // the report is about it
  first->set_also_right(std::move(right));
  return first;
}

/// Finds the first step of the algorithm at which a configuration's kernel leaves the tolerance.
ExitCode debug(const DebugOptions& options) {
  const KernelSet kernels = choose_kernels(options.kernels, {options.config});
  const Family& family = kernels.family();
  const Config config = parse_configs(kernels.families, {options.config}, options.problems).front();
  const Target target =
      choose_targets(options.target, kernels.tree, kernels.families.all()).front();
  const std::vector<HeadProblem> heads = head_problems(family, config, options, target.limits);
  if (options.out_dir) {
    check_output_file(*options.out_dir / kDebugJson);
  }
  if (!target.measured() && options.emulate) {
    print_note(options.output, fmt::format("NOT RUN ON A GPU: {}; emulating on the CPU, for {}",
                                           target.why_not_measured, arch_name(target.limits.arch)));
  }
  Progress progress(options.output, heads.size());
  const auto debugging = debug_on(heads, options, family, config, target, progress);
  progress.finish();
  if (options.out_dir) {
    debugging->write_files(*options.out_dir);
  }
  print_document(debug_document(debugging->report()), options.output);
  return is_right(debugging->report()) || has_not_run(debugging->report())
             ? ExitCode::ok
             : ExitCode::failed_outcomes;
}

constexpr std::int64_t kMostBlocks = 1024;
constexpr std::int64_t kMostDebuggedSeqLen = 65536;

std::string init_footer() {
  std::string text = "Kinds of input:\n";
  for (const InputKindText& kind : kInputKindTexts) {
    text += fmt::format("  {:<13} {}\n", kind.name, kind.doc);
  }
  return text;
}

void add_problem_of_debug(CLI::App& sub, DebugOptions& options) {
  const OptionScope scope(sub, option_group::kProblem);
  add_integer(sub, "--seq-blocks",
              fmt::format("sequence length in blocks of query rows (default: 4, and then {} rows, "
                          "full and causal)",
                          kRaggedSeqLen),
              1, kMostBlocks, options.seq_blocks);
  add_integer(sub, "--seq", "sequence length, in place of --seq-blocks", 1, kMostDebuggedSeqLen,
              options.seq_len)
      ->excludes("--seq-blocks");
  add_preset_option(sub, options.problems);
  add_causal_options(sub, options.problems);
  add_value(sub, "--init", "KIND", "how Q, K and V are filled: see below (default: normal)",
            options.init, parse_input_kind);
  add_integer(sub, "--seed", "seed of the random inputs (default: 1)", 0,
              std::numeric_limits<std::int64_t>::max(), options.seed);
}

}  // namespace

void add_debug_command(const Subcommands& all) {
  const auto [sub, options] =
      add_subcommand(all, "debug", "Find the first step at which a kernel goes wrong", debug);
  sub.add_option("--config", options.config,
                 "configuration, in short form or as a profiler prints the kernel")
      ->type_name("CONFIG")
      ->required()
      ->group(option_group::kKernels);
  add_problem_of_debug(sub, options);
  add_path_option(sub, "--out", "DIR",
                  "write every intermediate (.npy) and debug.json into this folder",
                  options.out_dir)
      ->group(option_group::kOutput);
  add_kernel_options(sub, options.kernels, SpaceOption::no);
  add_target_options(sub, options.target);
  add_cache_options(sub, options.compile);
  add_emulate_option(sub, options.emulate);
  add_output_options(sub, options.output);
  sub.footer(init_footer() + R"(
Exit code 6: something is wrong. Without a GPU the kernel's PTX is run on the CPU.

Examples:
  fatune debug --config "(FP16,128,64,64,4):async+load_2_2_2_tiles"
  fatune debug --init large_logits --seq 300 --causal --out wrong \
    --config "(FP16,128,64,64,4):async+eager+swizzled+load_2_2_2_tiles")");
}

}  // namespace fatune
