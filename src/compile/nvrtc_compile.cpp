#include "compile/nvrtc_compile.hpp"

#include <chrono>

#include "compile/nvrtc_hints.hpp"
#include "compile/resource_facts.hpp"
#include "gpu/nvrtc.hpp"

namespace fatune {
namespace {

using Clock = std::chrono::steady_clock;

double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

std::string lowered_entry(const gpu::Program& program, const CompileJob& job) {
  return job.entry_is_template ? program.lowered_name(job.entry_point) : job.entry_point;
}

Artifact make_artifact(const gpu::Program& program, const CompileJob& job) {
  Artifact artifact;
  artifact.key = job.key;
  artifact.log = program.log();
  artifact.lowered_name = lowered_entry(program, job);
  if (job.output != CompileOutput::ptx) {
    artifact.cubin = program.cubin();
    artifact.facts = read_resource_facts(artifact.log, artifact.cubin, artifact.lowered_name);
  }
  if (job.output != CompileOutput::cubin) {
    artifact.ptx = program.ptx();
  }
  artifact.toolchain = toolchain_name();
  return artifact;
}

}  // namespace

std::optional<Outcome> failure_of(const CompileResult& result) {
  if (const auto* failed = std::get_if<CompileFailed>(&result)) {
    return *failed;
  }
  const auto* const crashed = std::get_if<CompilerCrashed>(&result);
  return crashed == nullptr ? std::nullopt : std::optional<Outcome>(*crashed);
}

const std::string* failure_log(const CompileResult& result) {
  if (const auto* failed = std::get_if<CompileFailed>(&result)) {
    return &failed->log;
  }
  const auto* const crashed = std::get_if<CompilerCrashed>(&result);
  return crashed == nullptr ? nullptr : &crashed->log;
}

CompileResult compile_here(const CompileJob& job) {
  const Clock::time_point start = Clock::now();
  gpu::Program program(*job.sources);
  if (job.entry_is_template) {
    program.add_name_expression(job.entry_point);
  }
  if (!program.compile(job.options)) {
    return CompileFailed{with_hints(program.log())};
  }
  Artifact artifact = make_artifact(program, job);
  artifact.compile_ms = ms_since(start);
  return artifact;
}

std::string toolchain_name() { return "NVRTC " + gpu::nvrtc_version_text(); }

}  // namespace fatune
