#include <algorithm>
#include <cctype>
#include <chrono>

#include "base/ranges.hpp"
#include "cli/subcommands.hpp"
#include "commands/compile/compile_report.hpp"
#include "engine/candidate_maker.hpp"
#include "engine/choice/kernel_choice.hpp"
#include "engine/choice/plan_problems.hpp"
#include "engine/compiling.hpp"
#include "engine/interrupt.hpp"
#include "engine/progress.hpp"
#include "gpu/compiler.hpp"
#include "model/kernel_code.hpp"
#include "plan/family.hpp"
#include "plan/planner.hpp"
#include "print/files.hpp"

namespace fatune {
namespace {

bool is_plain(char c) { return c == '-' || std::isalnum(static_cast<unsigned char>(c)) != 0; }

/// Replaces every run of other characters by one '_', and drops those at the ends.
std::string as_name(const std::string& text) {
  std::string name;
  for (const char c : text) {
    if (is_plain(c) || (!name.empty() && name.back() != '_')) {
      name += is_plain(c) ? c : '_';
    }
  }
  return name.substr(0, name.find_last_not_of('_') + 1);
}

/// FATUNE_ROW_STRIDE and 2048 give ".row_stride-2048"; FATUNE_CAUSAL and 1 give ".causal". Names of
/// defines contain neither '.' nor '-', so different constants give different texts.
std::string as_part(std::string define, const std::string& value) {
  constexpr std::string_view kPrefix = "FATUNE_";
  define.erase(0, define.starts_with(kPrefix) ? kPrefix.size() : 0);
  std::ranges::transform(define, define.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return "." + define + (value == "1" ? "" : "-" + value);
}

bool is_of_family(const Family& family, const std::string& define) {
  return is_among(define, family.defines, &Define::name);
}

/// Returns the request's constants as a text. The parameters' defines are left out, because the
/// short form has them.
std::string constants_of(const Family& family, const CompileRequest& request) {
  std::string text;
  for (const auto& [name, value] : request.defines) {
    if (value != "0" && is_of_family(family, name)) {
      text += as_part(name, value);
    }
  }
  return text;
}

/// Returns the name of a kernel's file without its suffix: the family, the configuration's short
/// form, the compiled-in properties of the problem and the GPU (the family's defines that are not
/// 0), and the architecture, as
/// "flash_sm80_FP16_128_64_64_4_async_load_2_2_2_tiles.causal.row_stride-2048.sm_80". Requests of
/// one family that differ in any of these have different names.
std::string kernel_file_stem(const Family& family, const CompileRequest& request) {
  return family.name + "_" + as_name(request.label) + constants_of(family, request) + "." +
         arch_name(request.arch);
}

struct CompileOptions : OfflineOptions {
  std::vector<std::string> configs;  ///< instead of a space
  std::optional<std::filesystem::path> out_dir;
  bool ptx = false;
  bool strict = false;
};

/// The inputs of one `compile`.
struct Job {
  const CompileOptions& options;
  const Family& family;
  DeviceLimits limits;
  std::int64_t seq_len;
};

std::int64_t only_seq_len(const ProblemOptions& problems) {
  if (problems.seq_lens.size() > 1) {
    throw Error(ExitCode::usage, "compile takes one sequence length", "--seq",
                "its remainder modulo the tiles is compiled in; run once per length");
  }
  return first_seq_len(problems);
}

/// A configuration before compilation, with its request if it can be compiled.
struct Prepared {
  Problem problem;
  CompiledConfig row;
  Result result;
  LaunchGeometry geometry;
  std::optional<CompileRequest> request;
};

void set_outcome(const Outcome& outcome, CompiledConfig& row) {
  row.status = outcome_kind(outcome);
  row.detail = outcome_summary(outcome);
}

Prepared prepare(const Job& job, const Config& config) {
  const Problem problem = problem_for(job.family, config, job.options.problems, job.seq_len);
  Prepared prepared;
  prepared.problem = problem;
  prepared.result = make_result(job.family, config);
  prepared.row.short_form = prepared.result.short_form;
  if (const auto obstacle = find_obstacle(job.family, config, problem, job.limits)) {
    set_outcome(*obstacle, prepared.row);
    return prepared;
  }
  prepared.geometry = launch_geometry(job.family, config, problem, job.limits);
  prepared.request = compile_request(job.family, config, problem, job.limits.arch, job.limits);
  return prepared;
}

void write_artifact(const Job& job, const CompileRequest& request, const Artifact& artifact,
                    CompiledConfig& row) {
  const std::optional<std::filesystem::path>& out_dir = job.options.out_dir;
  if (!out_dir) {
    return;
  }
  const std::string stem = kernel_file_stem(job.family, request);
  row.cubin_file = (*out_dir / (stem + ".cubin")).string();
  write_output_file(row.cubin_file, {artifact.cubin.data(), artifact.cubin.size()});
  if (job.options.ptx) {
    row.ptx_file = (*out_dir / (stem + ".ptx")).string();
    write_output_file(row.ptx_file, artifact.ptx);
  }
}

void add_failure(const CompileResult& result, CompiledConfig& row) {
  set_outcome(*failure_of(result), row);
  row.log = *failure_log(result);
}

void add_compiled(const Job& job, const Artifact& artifact, Prepared& prepared) {
  CompiledConfig& row = prepared.row;
  prepared.geometry = launch_geometry(job.family, prepared.result.config, prepared.problem,
                                      job.limits, &artifact.facts);
  const auto unlaunchable = add_artifact(artifact, prepared.geometry, job.limits, prepared.result);
  const auto serialized = find_serialization(artifact.facts);
  row.status = OutcomeKind::compiled;
  if (unlaunchable) {
    set_outcome(*unlaunchable, row);
  } else if (serialized) {
    set_outcome(*serialized, row);
  }
  row.facts = artifact.facts;
  row.log = artifact.log;
  row.dynamic_smem_bytes = prepared.result.dynamic_smem_bytes;
  row.threads_per_block = prepared.result.threads_per_block;
  row.blocks_per_sm = prepared.result.blocks_per_sm;
  row.compile_ms = artifact.compile_ms;
  row.from_cache = artifact.from_cache;
  row.artifact_key = artifact.key;
  row.symbol = artifact.lowered_name;
  row.problem = prepared.problem;
  row.geometry = prepared.geometry;
  write_artifact(job, prepared.request.value(), artifact, row);
}

void compile_prepared(const Job& job, std::vector<Prepared>& prepared) {
  std::vector<CompileRequest> requests;
  std::vector<std::size_t> owners;
  for (std::size_t i = 0; i < prepared.size(); ++i) {
    if (const std::optional<CompileRequest>& request = prepared[i].request) {
      requests.push_back(*request);
      owners.push_back(i);
    }
  }
  const auto cache = open_cache(job.options.compile);
  Progress progress(job.options.output, owners.size());
  compile_each(
      requests,
      [&](const CompileRequest& request) { return compile(request, cache.get(), job.options.ptx); },
      job_count(job.options.compile),
      [&](std::size_t index, const auto& result) {
        Prepared& owner = prepared[owners.at(index)];
        progress.begin_problem(owner.problem);
        if (const auto* artifact = std::get_if<Artifact>(result.get())) {
          add_compiled(job, *artifact, owner);
        } else {
          add_failure(*result, owner.row);
        }
        progress.step();
        return !InterruptWatch::interrupted();
      });
  progress.finish();
}

ExitCode exit_code_of(const CompileReport& report, bool strict) {
  if (!report.coverage.complete) {
    return ExitCode::interrupted;
  }
  const auto any = [&](OutcomeKind status) {
    return is_among(status, report.configs, &CompiledConfig::status);
  };
  if (strict && std::ranges::any_of(report.configs, is_without_code, &CompiledConfig::status)) {
    return ExitCode::failed_outcomes;
  }
  return any(OutcomeKind::compiled) || any(OutcomeKind::serialized) ? ExitCode::ok
                                                                    : ExitCode::nothing_ranked;
}

/// Compiles configurations, runs nothing, and prints registers, spills, shared memory and files.
ExitCode compile_offline(const CompileOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  const KernelSet kernels = choose_kernels(options.kernels, options.configs);
  const Target target = offline_target(options.arch, kernels.tree, kernels.families.all());
  const Job job{options, kernels.family(), target.limits, only_seq_len(options.problems)};
  CompileReport report;
  std::vector<Prepared> prepared;
  for (const Config& config :
       choose_configs(kernels, options.kernels, options.configs, options.problems, report.space)) {
    prepared.push_back(prepare(job, config));
    report.problem = problem_for(kernels.family(), config, options.problems, job.seq_len);
  }
  const InterruptWatch watch;
  compile_prepared(job, prepared);
  for (Prepared& one : prepared) {
    if (one.row.status != OutcomeKind::stopped) {
      report.configs.push_back(std::move(one.row));
    }
  }
  report.coverage = {report.configs.size(), prepared.size(), !InterruptWatch::interrupted()};
  report.family = kernels.family().name;
  report.device = target.limits;
  report.toolchain = toolchain_in_use(target);
  report.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  print_document(compile_document(report), options.output);
  return exit_code_of(report, options.strict);
}

void add_written_files(CLI::App& app, CompileOptions& options) {
  const OptionScope scope(app, option_group::kOutput);
  add_path_option(app, "--out", "DIR", "folder for the .cubin (and .ptx) files", options.out_dir);
  app.add_flag("--ptx", options.ptx, "write PTX too")->needs("--out");
  app.add_flag("--strict", options.strict, "exit with 6 if a configuration did not compile");
}

}  // namespace

void add_compile_command(const Subcommands& all) {
  const auto [sub, options] = add_subcommand(
      all, "compile", "Compile without running: registers, spills, shared memory, blocks per SM",
      compile_offline);
  add_kernel_options(sub, options.kernels, SpaceOption::yes);
  add_configs_option(
      sub, options.configs,
      "configuration instead of a space, in short form or as a kernel name; repeatable")
      ->excludes("--space");
  add_problem_options(sub, options.problems, kCompiledSeqLen);
  add_arch_option(sub, options.arch);
  add_compile_settings(sub, options.compile);
  add_written_files(sub, options);
  add_output_options(sub, options.output);
  sub.footer(
      R"(The default architecture is sm_90a. The remainder of the sequence length in the last tile is compiled in.
--out names a file after the family, the configuration, the compiled-in constants of problem and GPU
(those that are not 0) and the architecture:
  flash_sm80_FP16_..._tiles.causal.min_blocks-2.row_stride-2048.sm_80.cubin
Examples:
  fatune compile --space tune --arch sm_80
  fatune compile --space all --arch sm_90a --format json
  fatune compile --arch sm_86 --out kernels_out --ptx \
    --config "(FP16,128,64,64,4):async+eager+swizzled+load_2_2_2_tiles")");
}

}  // namespace fatune
