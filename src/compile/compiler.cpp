#include "compile/compiler.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <chrono>

#include "compile/cubin_cache.hpp"
#include "compile/nvrtc_hints.hpp"
#include "compile/resource_facts.hpp"
#include "core/error.hpp"
#include "core/is_among.hpp"
#include "core/sha256.hpp"
#include "gpu/nvrtc.hpp"

namespace fatune {
namespace {

using Clock = std::chrono::steady_clock;

double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

/// Adds the text with its length in front, so that no two lists of fields have the same hash.
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

/// The requested results of a compilation.
enum class Output { cubin, cubin_and_ptx, ptx };

Artifact make_artifact(const gpu::Program& program, const CompileRequest& request, Output output) {
  Artifact artifact;
  artifact.log = program.log();
  artifact.lowered_name = lowered_entry(program, request);
  if (output != Output::ptx) {
    artifact.cubin = program.cubin();
    artifact.facts = read_resource_facts(artifact.log, artifact.cubin, artifact.lowered_name);
  }
  if (output != Output::cubin) {
    artifact.ptx = program.ptx();
  }
  artifact.toolchain = toolchain_name();
  return artifact;
}

std::vector<std::string> options_of(const CompileRequest& request, Output output) {
  std::vector<std::string> options;
  if (output == Output::ptx) {
    options = {"--gpu-architecture=" + virtual_arch_name(request.arch)};
  } else {
    options = {"--gpu-architecture=" + arch_name(request.arch),
               "--ptxas-options=-v"};  // the report that facts are read from
  }
  // With a driver, NVRTC 12.9 and later keep a cache of their own, whose hits have no report.
  if (gpu::nvrtc_version() >= gpu::NvrtcVersion{12, 9}) {
    options.emplace_back("--no-cache");
  }
  for (const auto& [name, value] : request.defines) {
    options.push_back(fmt::format("--define-macro={}={}", name, value));
  }
  options.insert(options.end(), request.options.begin(), request.options.end());
  return options;
}

std::string key_of(const CompileRequest& request, Output output) {
  Sha256 hash;
  add_field(hash, "fatune artifact 1");
  add_field(hash, toolchain_name());
  add_field(hash, request.entry_point);
  add_field(hash, request.entry_is_template ? "template" : "name");
  for (const std::string& option : options_of(request, output)) {
    add_field(hash, option);
  }
  add_field(hash, "sources");
  add_file(hash, request.sources->main);
  for (const SourceFile& header : request.sources->headers) {
    add_file(hash, header);
  }
  for (const SourceFile& file : request.sources->included) {
    add_file(hash, file);
  }
  return hash.finish_hex();
}

/// Returns all options, include folders too. The key leaves these out: it covers the headers'
/// contents.
std::vector<std::string> all_options_of(const CompileRequest& request, Output output) {
  std::vector<std::string> options = options_of(request, output);
  for (const std::string& folder : request.sources->include_folders) {
    options.push_back("--include-path=" + folder);
  }
  return options;
}

CompileResult compile_now(const CompileRequest& request, Output output) {
  const Clock::time_point start = Clock::now();
  gpu::Program program(*request.sources);
  if (request.entry_is_template) {
    program.add_name_expression(request.entry_point);
  }
  if (!program.compile(all_options_of(request, output))) {
    return CompileFailed{with_hints(program.log())};
  }
  Artifact artifact = make_artifact(program, request, output);
  artifact.compile_ms = ms_since(start);
  return artifact;
}

CompileResult compile_through_cache(const CompileRequest& request, CubinCache* cache,
                                    Output output) {
  const std::string key = key_of(request, output);
  if (cache != nullptr) {
    if (auto cached = cache->find(key, output != Output::cubin)) {
      return std::move(*cached);
    }
  }
  CompileResult result = compile_now(request, output);
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

CompileResult compile_or_say_why(const CompileRequest& request, CubinCache* cache, Output output) {
  try {
    return compile_through_cache(request, cache, output);
  } catch (const std::exception& error) {
    return CompileFailed{error.what()};
  }
}

}  // namespace

CompileResult compile(const CompileRequest& request, CubinCache* cache, bool keep_ptx) {
  return compile_or_say_why(request, cache, keep_ptx ? Output::cubin_and_ptx : Output::cubin);
}

CompileResult compile_to_ptx(const CompileRequest& request, CubinCache* cache) {
  return compile_or_say_why(request, cache, Output::ptx);
}

CompileRequest with_line_info(CompileRequest request) {
  request.options.emplace_back("--generate-line-info");
  return request;
}

std::string artifact_key(const CompileRequest& request) { return key_of(request, Output::cubin); }

std::string toolchain_name() { return "NVRTC " + gpu::nvrtc_version_text(); }

void check_arch_supported(Arch arch) {
  const std::vector<int> sms = gpu::nvrtc_supported_sms();
  if (!is_among(arch.sm, sms)) {
    throw Error(ExitCode::usage,
                fmt::format("{} does not compile for {}", toolchain_name(), arch_name(arch)), {},
                fmt::format("it compiles for sm_{}", fmt::join(sms, ", sm_")));
  }
}

}  // namespace fatune
