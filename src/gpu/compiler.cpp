#include "gpu/compiler.hpp"

#include <atomic>
#include <map>
#include <mutex>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include "base/error.hpp"
#include "base/ranges.hpp"
#include "base/sha256.hpp"
#include "base/task_pool.hpp"
#include "gpu/compiler_processes.hpp"
#include "gpu/cubin_cache.hpp"
#include "gpu/nvrtc.hpp"

namespace fatune {
namespace {

/// Adds the text with its length in front, so that no two lists of fields have the same hash.
void add_field(Sha256& hash, std::string_view text) {
  hash.update(fmt::format("{}:", text.size()));
  hash.update(text);
}

std::vector<std::string> options_of(const CompileRequest& request, CompileOutput output) {
  std::vector<std::string> options;
  if (output == CompileOutput::ptx) {
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
  append(options, request.options);
  return options;
}

std::string key_of(const CompileRequest& request, CompileOutput output) {
  Sha256 hash;
  add_field(hash, "fatune artifact 1");
  add_field(hash, toolchain_name());
  add_field(hash, request.entry_point);
  add_field(hash, request.entry_is_template ? "template" : "name");
  for (const std::string& option : options_of(request, output)) {
    add_field(hash, option);
  }
  add_field(hash, "sources");
  add_field(hash, request.sources->main.name);
  add_field(hash, request.sources->main.text);
  for (const SourceFile& header : request.sources->headers) {
    add_field(hash, header.name);
    add_field(hash, header.text);
  }
  return hash.finish_hex();
}

CompileResult compile_through_cache(const CompileRequest& request, CubinCache* cache,
                                    CompileOutput output) {
  const std::string key = key_of(request, output);
  if (cache != nullptr) {
    if (auto cached = cache->find(key, output != CompileOutput::cubin)) {
      return std::move(*cached);
    }
  }
  CompileResult result =
      compile_apart({request.sources, options_of(request, output), request.entry_point,
                     request.entry_is_template, output, key});
  if (auto* artifact = std::get_if<Artifact>(&result)) {
    spdlog::debug("compiled {} for {} in {:.0f} ms", request.label, arch_name(request.arch),
                  artifact->compile_ms);
    if (cache != nullptr) {
      cache->store(*artifact);
    }
  }
  return result;
}

/// Indices of requests with the same key.
using Group = std::vector<std::size_t>;

std::vector<Group> group_by_key(const std::vector<CompileRequest>& requests) {
  std::vector<Group> groups;
  std::map<std::string, std::size_t> group_of_key;
  for (std::size_t index = 0; index < requests.size(); ++index) {
    const auto [found, is_new] =
        group_of_key.try_emplace(artifact_key(requests[index]), groups.size());
    if (is_new) {
      groups.emplace_back();
    }
    groups[found->second].push_back(index);
  }
  return groups;
}

}  // namespace

CompileResult compile(const CompileRequest& request, CubinCache* cache, bool keep_ptx) {
  const CompileOutput output = keep_ptx ? CompileOutput::cubin_and_ptx : CompileOutput::cubin;
  return guarded([&] { return compile_through_cache(request, cache, output); });
}

CompileResult compile_to_ptx(const CompileRequest& request, CubinCache* cache) {
  return guarded([&] { return compile_through_cache(request, cache, CompileOutput::ptx); });
}

CompileRequest with_line_info(CompileRequest request) {
  request.options.emplace_back("--generate-line-info");
  return request;
}

std::string artifact_key(const CompileRequest& request) {
  return key_of(request, CompileOutput::cubin);
}

void check_arch_supported(Arch arch) {
  const std::vector<int> sms = gpu::nvrtc_supported_sms();
  if (!is_among(arch.sm, sms)) {
    throw Error(ExitCode::usage,
                fmt::format("{} does not compile for {}", toolchain_name(), arch_name(arch)), {},
                fmt::format("it compiles for sm_{}", fmt::join(sms, ", sm_")));
  }
}

std::shared_ptr<const CompileResult> compile_guarded(const CompileFunction& compile_one,
                                                     const CompileRequest& request) {
  return std::make_shared<const CompileResult>(guarded([&] { return compile_one(request); }));
}

void compile_each(const std::vector<CompileRequest>& requests, const CompileFunction& compile_one,
                  int jobs, const TakeCompiled& take) {
  const std::vector<Group> groups = group_by_key(requests);
  std::mutex taking;
  std::atomic<bool> stopped = false;
  for_each_index(groups.size(), jobs, [&](std::size_t i) {
    if (stopped) {
      return;
    }
    const auto result = compile_guarded(compile_one, requests[groups[i].front()]);
    const std::lock_guard lock(taking);
    for (const std::size_t index : groups[i]) {
      stopped = stopped || !take(index, result);
    }
  });
}

}  // namespace fatune
