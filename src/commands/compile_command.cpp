#include "commands/compile_command.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>

#include "app/choice/kernel_choice.hpp"
#include "app/choice/plan_problems.hpp"
#include "app/choice/target.hpp"
#include "app/console/console.hpp"
#include "app/console/progress.hpp"
#include "app/run/session.hpp"
#include "commands/kernel_file_name.hpp"
#include "compile/compile_each.hpp"
#include "core/error.hpp"
#include "core/is_among.hpp"
#include "emit/compile_report.hpp"
#include "emit/output_file.hpp"
#include "engine/interrupt.hpp"
#include "engine/results.hpp"
#include "plan/planner.hpp"

namespace fatune {
namespace {

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

}  // namespace

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

}  // namespace fatune
