#include "compile/compiler.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>

#include "compile/cubin_cache.hpp"
#include "compile/resource_facts.hpp"
#include "compile/sha256.hpp"
#include "core/error.hpp"
#include "gpu/nvrtc.hpp"

namespace fatune {
namespace {

using Clock = std::chrono::steady_clock;

double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

/// With its length in front, so that no two lists of fields hash alike.
void add_field(Sha256& hash, std::string_view text) {
  hash.update(fmt::format("{}:", text.size()));
  hash.update(text);
}

void add_file(Sha256& hash, const SourceFile& file) {
  add_field(hash, file.name);
  add_field(hash, file.text);
}

std::string lowered_entry(const gpu::Program& program, const CompileRequest& request) {
  return request.entry_is_template ? program.lowered_name(request.entry_point)
                                   : request.entry_point;
}

Artifact make_artifact(const gpu::Program& program, const CompileRequest& request) {
  Artifact artifact;
  artifact.log = program.log();
  artifact.cubin = program.cubin();
  artifact.lowered_name = lowered_entry(program, request);
  artifact.facts = read_resource_facts(artifact.log, artifact.cubin, artifact.lowered_name);
  artifact.toolchain = toolchain_name();
  return artifact;
}

CompileResult compile_now(const CompileRequest& request, bool keep_ptx) {
  const Clock::time_point start = Clock::now();
  gpu::Program program(*request.sources);
  if (request.entry_is_template) {
    program.add_name_expression(request.entry_point);
  }
  if (!program.compile(nvrtc_options(request))) {
    return CompileFailed{program.log()};
  }
  Artifact artifact = make_artifact(program, request);
  if (keep_ptx) {
    artifact.ptx = program.ptx();
  }
  artifact.compile_ms = ms_since(start);
  return artifact;
}

CompileResult compile_through_cache(const CompileRequest& request, CubinCache* cache,
                                    bool keep_ptx) {
  const std::string key = artifact_key(request);
  if (cache != nullptr) {
    if (auto cached = cache->find(key, keep_ptx)) {
      return std::move(*cached);
    }
  }
  CompileResult result = compile_now(request, keep_ptx);
  if (auto* artifact = std::get_if<Artifact>(&result)) {
    artifact->key = key;
    spdlog::debug("compiled {} for {} in {:.0f} ms", request.label, arch_name(request.arch),
                  artifact->compile_ms);
    if (cache != nullptr) {
      cache->store(*artifact);
    }
  }
  return result;
}

}  // namespace

CompileResult compile(const CompileRequest& request, CubinCache* cache, bool keep_ptx) {
  try {
    return compile_through_cache(request, cache, keep_ptx);
  } catch (const std::exception& error) {
    return CompileFailed{error.what()};
  }
}

CompileRequest with_line_info(CompileRequest request) {
  request.options.emplace_back("--generate-line-info");
  return request;
}

std::vector<std::string> nvrtc_options(const CompileRequest& request) {
  std::vector<std::string> options{"--gpu-architecture=" + arch_name(request.arch),
                                   "--ptxas-options=-v"};  // the report that facts are read from
  // Beside a driver, NVRTC 12.9 and later keep a cache of their own: its hits have no report.
  if (gpu::nvrtc_version() >= gpu::NvrtcVersion{12, 9}) {
    options.emplace_back("--no-cache");
  }
  for (const auto& [name, value] : request.defines) {
    options.push_back(fmt::format("--define-macro={}={}", name, value));
  }
  options.insert(options.end(), request.options.begin(), request.options.end());
  return options;
}

std::string artifact_key(const CompileRequest& request) {
  Sha256 hash;
  add_field(hash, "fatune artifact 1");
  add_field(hash, toolchain_name());
  add_field(hash, request.entry_point);
  add_field(hash, request.entry_is_template ? "template" : "name");
  for (const std::string& option : nvrtc_options(request)) {
    add_field(hash, option);
  }
  add_field(hash, "sources");
  add_file(hash, request.sources->main);
  for (const SourceFile& header : request.sources->headers) {
    add_file(hash, header);
  }
  return hash.finish_hex();
}

std::string toolchain_name() { return "NVRTC " + gpu::nvrtc_version_text(); }

void check_arch_supported(Arch arch) {
  const std::vector<int> sms = gpu::nvrtc_supported_sms();
  if (std::find(sms.begin(), sms.end(), arch.sm) == sms.end()) {
    throw Error(ExitCode::usage,
                fmt::format("{} does not compile for {}", toolchain_name(), arch_name(arch)), {},
                fmt::format("it compiles for sm_{}", fmt::join(sms, ", sm_")));
  }
}

}  // namespace fatune
