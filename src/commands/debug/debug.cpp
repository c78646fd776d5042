#include <cctype>

#include <fmt/format.h>

#include "base/ranges.hpp"
#include "base/text_parts.hpp"
#include "base/worker_process.hpp"
#include "cli/subcommands.hpp"
#include "commands/debug/debug_report.hpp"
#include "engine/choice/plan_problems.hpp"
#include "engine/compiling.hpp"
#include "engine/measuring_evaluator.hpp"
#include "engine/progress.hpp"
#include "engine/session.hpp"
#include "gpu/compiler.hpp"
#include "measure/remote_measurer.hpp"
#include "model/config.hpp"
#include "model/cpu_reference.hpp"
#include "model/input_kind.hpp"
#include "plan/config_text.hpp"
#include "plan/family.hpp"
#include "plan/planner.hpp"
#include "print/files.hpp"
#include "proof/emulated_launch.hpp"
#include "proof/findings.hpp"

namespace fatune {
namespace {

constexpr const char* kDebugJson = "debug.json";

DumpExtents extents_of(const HeadProblem& head) {
  return {head.rows(), head.keys(), head.kv_tiles()};
}

namespace fs = std::filesystem;

std::string file_name(StepTensor tensor, const char* source) {
  std::string name(enum_name(tensor));
  std::ranges::transform(name, name.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return name + "_" + source + ".npy";
}

/// `width`: the elements of a row.
void write_input(const fs::path& path, std::int64_t width, DType dtype,
                 const std::vector<std::uint16_t>& elements) {
  const std::int64_t rows = std::ssize(elements) / width;
  write_output_file(path, npy_float32({rows, width}, element_values(elements, dtype)));
}

/// Options of `debug`, which compares one configuration's intermediates with those of the algorithm
/// on the CPU.
struct DebugOptions {
  std::string config;  ///< short form or kernel name
  KernelOptions kernels;
  /// The number of queries, in blocks of query rows or as such. Neither is given:
  /// default_problems(), the whole one with what the family declares, or 4 blocks.
  std::optional<std::int64_t> seq_blocks;
  std::optional<std::int64_t> seq_len;
  std::optional<std::int64_t> seq_len_kv;  ///< absent: what the family declares, or the preset's
  ProblemOptions problems;                 ///< its batch and its heads are ignored
  InputKind init = InputKind::normal;
  std::uint64_t seed = 1;
  bool emulate = true;  ///< run the PTX on the CPU if there is no GPU
  TargetOptions target;
  CompileSettings compile;
  OutputOptions output;
  std::optional<std::filesystem::path> out_dir;
};

void check_size(const HeadProblem& head) {
  const std::int64_t bytes = 4 * extents_of(head).values(head.d_head_v);
  if (bytes > static_cast<std::int64_t>(kMaxBlobBytes)) {
    throw Error(
        ExitCode::too_large,
        fmt::format("the intermediates of {} queries and {} keys are {} MiB; at most {} MiB "
                    "can be shown",
                    head.seq_len, head.seq_len_kv, bytes >> 20, kMaxBlobBytes >> 20),
        "--seq-blocks", "use a shorter sequence: a wrong step shows there too");
  }
}

ProblemOptions one_head_of(ProblemOptions problems) {
  problems.batch = 1;
  problems.heads = 1;
  problems.details.erase(&find_detail("kv_heads"));
  return problems;
}

/// Throws Error(usage) for a problem with details other than a number of keys, a head dimension of
/// V and values that are columns of keys, because the steps on the CPU have none, for a Q of 8
/// bits, and if a query sees no key. A window as long as the sequence does not count.
void check_shown(Problem problem) {
  if (problem.causal && problem.seq_len > problem.seq_len_kv) {
    throw Error(ExitCode::usage,
                fmt::format("debug cannot show queries without keys: a causal mask with {} queries "
                            "and {} keys leaves some none",
                            problem.seq_len, problem.seq_len_kv),
                "--seq-kv", "name at least as many keys as queries");
  }
  if (has_eight_bits(problem.dtype)) {
    throw Error(ExitCode::usage,
                fmt::format("debug cannot show the steps of a problem with dtype {}",
                            dtype_name(problem.dtype)),
                "--dtype", "choose a configuration of 16 bits");
  }
  const bool is_hiding = problem.window < std::max(problem.seq_len, problem.seq_len_kv);
  problem.window = is_hiding ? problem.window : 0;
  problem.seq_len_kv = problem.seq_len;
  problem.d_head_v = problem.d_head;
  problem.latent = false;
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
  const HeadProblem head{problem.seq_len, problem.d_head,     problem.dtype,    problem.causal,
                         tiles,           problem.seq_len_kv, problem.d_head_v, problem.latent};
  check_size(head);
  return head;
}

std::int64_t first_queries(const DebugOptions& options, const BlockTiles& tiles,
                           const DebugLengths& usual) {
  constexpr std::int64_t kBlocks = 4;
  const auto in_blocks = [&](std::int64_t blocks) { return blocks * tiles.query_rows; };
  return options.seq_len      ? *options.seq_len
         : options.seq_blocks ? in_blocks(*options.seq_blocks)
                              : usual.queries.value_or(in_blocks(kBlocks));
}

/// The options with this number of queries, and with the named number of keys or the usual one,
/// which is at least that of queries.
ProblemOptions with_lengths(const DebugOptions& options, const DebugLengths& usual,
                            std::int64_t queries) {
  ProblemOptions problems = one_head_of(options.problems);
  problems.seq_lens = {queries};
  if (options.seq_len_kv || usual.keys) {
    problems.details[&find_detail("seq_len_kv")] =
        options.seq_len_kv ? *options.seq_len_kv : std::max(*usual.keys, queries);
  }
  return problems;
}

/// Returns a configuration's problems of one head, tiled as the family declares, or as BlockTiles
/// by default: the one of the given length, or default_problems(). Throws Error(too_large) if the
/// intermediates of one are more than a worker can send.
std::vector<HeadProblem> head_problems(const Family& family, const Config& config,
                                       const DebugOptions& options, const DeviceLimits& limits) {
  const BlockTiles tiles = block_tiles(family, config).value_or(BlockTiles{});
  const DebugLengths usual = debug_lengths(family, config);
  const std::int64_t queries = first_queries(options, tiles, usual);
  const ProblemOptions whole = with_lengths(options, usual, queries);
  const ProblemOptions ragged = with_lengths(
      options, usual, std::min(kRaggedSeqLen, options.seq_len_kv.value_or(kRaggedSeqLen)));
  const bool named = options.seq_len || options.seq_blocks;
  const auto problems = named ? std::vector{problem_for(family, config, whole, queries)}
                              : default_problems(family, config, whole, ragged, limits);
  return mapped(problems, [&](const Problem& problem) { return head_of(problem, tiles); });
}

/// One configuration on one problem, on its way from options to a report.
class Debugging {
 public:
  Debugging(const DebugOptions& options, const Family& family, const Config& config,
            const HeadProblem& head)
      : options_(options), family_(family), config_(config), head_(head) {
    report_.family = family.name;
    report_.config = short_form(family, config);
    report_.head = head_;
    report_.declares_steps = family.debug.has_value();
    report_.init = input_kind_name(options.init);
    report_.seed = options.seed;
  }

  void run_on(const Target& target) {
    report_.why_not_measured = target.why_not_measured;
    report_.device = target.measured() ? target.limits.name : "";
    if (!target.measured() && !options_.emulate) {
      return;
    }
    if (const auto beyond = check_limits({family_, config_, head_.problem(), target.limits})) {
      fail(Outcome{*beyond});
    } else if (target.measured()) {
      run_on_gpu(target);
    } else {
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

  /// Writes debug.json, q.npy, k.npy and v.npy, and for every intermediate <tensor>_float64.npy,
  /// <tensor>_16bit.npy and <tensor>_kernel.npy, laid out as StepValues. Each file is written whole
  /// or not at all. Throws Error(io) that names the file.
  void write_files(const fs::path& folder) const {
    write_input(folder / "q.npy", head_.d_head, head_.dtype, inputs_.q);
    write_input(folder / "k.npy", head_.d_head, head_.dtype, inputs_.k);
    write_input(folder / "v.npy", head_.d_head_v, head_.dtype, inputs_.v);
    for (const StepTensor tensor : kStepTensors) {
      write_tensor(folder, tensor);
    }
    write_tensor(folder, StepTensor::output);
    write_output_file(folder / kDebugJson, render(debug_document(report_), OutputFormat::json));
  }

  void set_also_right(std::vector<std::string> problems) {
    report_.also_right = std::move(problems);
  }
  [[nodiscard]] const DebugReport& report() const { return report_; }

 private:
  [[nodiscard]] CompileRequest request_for(const DeviceLimits& limits) const {
    const auto make_request = family_.debug ? dump_request : compile_request;
    return make_request({family_, config_, head_.problem(), limits});
  }

  [[nodiscard]] std::optional<DumpExtents> dump() const {
    return family_.debug ? std::optional(extents_of(head_)) : std::nullopt;
  }

  [[nodiscard]] LaunchGeometry launch_on(const DeviceLimits& limits,
                                         const ResourceFacts* facts) const {
    LaunchGeometry launch = launch_geometry({family_, config_, head_.problem(), limits}, facts);
    if (const auto extents = dump()) {
      add_dump(*extents, launch.arguments);
    }
    return launch;
  }

  /// Compiles the kernel, with its intermediates if the family declares any, and runs it once in a
  /// worker process. Throws Error(bad_file) if it does not compile, Error(gpu_busy) and
  /// Error(gpu_failure).
  void run_on_gpu(const Target& target) {
    const MeasuringSetup gpu =
        gpu_setup(target, target.gpus.front(), options_.target, options_.output);
    DebugRequest request;
    request.label = report_.config;
    request.problem = head_.problem();
    const auto cache = open_cache(options_.compile);
    request.artifact = artifact_of(compile(request_for(target.limits), cache.get()), request.label);
    request.geometry = launch_on(target.limits, &request.artifact.facts);
    request.dump = dump();
    request.q = inputs_.q;
    request.k = inputs_.k;
    request.v = head_.latent ? std::vector<std::uint16_t>{} : inputs_.v;
    const DeviceLock lock(gpu.uuid, gpu.wait, gpu.on_wait);
    RemoteMeasurer worker(worker_settings(gpu.device_ordinal), MeasurePolicy{});
    const DebugResult result = worker.run_for_debug(request);
    if (const auto* outcome = std::get_if<Outcome>(&result)) {
      fail(*outcome);
    } else {
      take(std::get<DebugRun>(result));
    }
  }

  /// Compiles the kernel to PTX in the same way, and runs it once on the CPU. Needs no GPU. Throws
  /// Error(bad_file) if it does not compile.
  void emulate(const Target& target) {
    const auto cache = open_cache(options_.compile);
    const CompileRequest request = request_for(target.limits);
    const Artifact artifact =
        artifact_of(compile_to_ptx(with_line_info(request), cache.get()), report_.config);
    EmulatedLaunch launch;
    launch.on.problem = head_.problem();
    launch.geometry = launch_on(target.limits, nullptr);
    launch.shared_tensors = shared_tensors({family_, config_, launch.on.problem, target.limits});
    const auto result = emulate_for_debug(
        {report_.config, artifact, *request.sources, std::move(launch), dump(), inputs_});
    if (const auto* not_emulated = std::get_if<NotEmulated>(&result)) {
      report_.why_not_emulated = not_emulated->why;
    } else {
      take(std::get<EmulatedDebug>(result));
    }
  }

  void write_tensor(const fs::path& folder, StepTensor tensor) const {
    const std::vector<std::int64_t> shape = tensor_shape(head_, tensor);
    write_output_file(folder / file_name(tensor, "float64"),
                      npy_float64(shape, comparison_.float64.of(tensor)));
    write_output_file(folder / file_name(tensor, "16bit"),
                      npy_float32(shape, comparison_.sixteen_bit.of(tensor)));
    if (kernel_ && (kernel_->has_steps || tensor == StepTensor::output)) {
      write_output_file(folder / file_name(tensor, "kernel"),
                        npy_float32(shape, kernel_->values.of(tensor)));
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
  HeadInputs inputs_ = make_head_inputs(head_, options_.init, options_.seed);
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
  return "Kinds of input:\n" + joined(kInputKindTexts, "", [&](const InputKindText& kind) {
           return fmt::format("  {:<13} {}\n", kind.name, kind.doc);
         });
}

void add_problem_of_debug(CLI::App& sub, DebugOptions& options) {
  const OptionScope scope(sub, option_group::kProblem);
  add_integer(
      sub, "--seq-blocks",
      fmt::format("queries in blocks of query rows (default: 4, or one query of a family for "
                  "decoding, and then {} queries, full and causal)",
                  kRaggedSeqLen),
      1, kMostBlocks, options.seq_blocks);
  add_integer(sub, "--seq", "queries, in place of --seq-blocks", 1, kMostDebuggedSeqLen,
              options.seq_len)
      ->excludes("--seq-blocks");
  add_integer(sub, "--seq-kv", "keys (default: as many as queries, or what the family declares)", 1,
              kMostDebuggedSeqLen, options.seq_len_kv);
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
