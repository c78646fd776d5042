#include "commands/sass/sass_code.hpp"

#include <algorithm>
#include <atomic>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "app/run/compiling.hpp"
#include "app/scratch_folder.hpp"
#include "compile/compiler.hpp"
#include "compile/cubin_cache.hpp"
#include "core/task_pool.hpp"
#include "emit/output_file.hpp"
#include "engine/interrupt.hpp"
#include "plan/config_text.hpp"
#include "plan/planner.hpp"
#include "process/find_tool.hpp"
#include "process/run_program.hpp"
#include "sass/listing.hpp"

namespace fatune {
namespace {

constexpr std::size_t kShortestPrefix = 4;
constexpr std::size_t kMostNamed = 8;
constexpr std::string_view kHexDigits = "0123456789abcdef";
constexpr const char* kWhere = "--artifact";

void check_prefix(const std::string& prefix) {
  if (prefix.size() < kShortestPrefix ||
      prefix.find_first_not_of(kHexDigits) != std::string::npos) {
    throw Error(
        ExitCode::usage, fmt::format("'{}' is not the beginning of a key", prefix), kWhere,
        fmt::format("give {} or more of the hexadecimal digits of artifact_key in JSON and CSV",
                    kShortestPrefix));
  }
}

/// Returns the only artifact of the cache whose key begins with `prefix`. Throws Error(usage) if
/// `prefix` is not the beginning of a key, if no key or several keys begin with it, if the artifact
/// is only PTX, and without a cache. Throws Error(bad_file) if the artifact is damaged.
Artifact cached_artifact(CubinCache* cache, const std::string& prefix) {
  check_prefix(prefix);
  if (cache == nullptr) {
    throw Error(ExitCode::usage, "artifacts are in the cubin cache, which is off", kWhere,
                "leave --no-cache out");
  }
  std::vector<std::string> keys = cache->keys(prefix);
  if (keys.empty()) {
    throw Error(ExitCode::usage, fmt::format("the cache has no artifact '{}'", prefix), kWhere,
                "the cache removes what was used longest ago; --config or --run compiles it again");
  }
  if (keys.size() > 1) {
    const std::size_t count = keys.size();
    keys.resize(std::min(count, kMostNamed));
    throw Error(ExitCode::usage, fmt::format("{} artifacts begin with '{}'", count, prefix), kWhere,
                fmt::format("give more digits: {}", fmt::join(keys, ", ")));
  }
  auto artifact = cache->find(keys.front());
  if (!artifact) {
    throw Error(ExitCode::bad_file, "the artifact is damaged", keys.front(),
                "compile its configuration again, which replaces it");
  }
  if (artifact->cubin.empty()) {
    throw Error(ExitCode::usage, "the artifact is PTX, which was not compiled further",
                keys.front(), "`fatune compile` compiles its configuration to machine code");
  }
  return std::move(*artifact);
}

namespace fs = std::filesystem;

constexpr std::string_view kArtifactPrefix = "artifact:";

SassCode disassemble_artifact(const std::string& tool, const fs::path& folder,
                              const Artifact& artifact, const std::string& name) {
  SassCode code{name, artifact.facts, artifact.key, disassemble(tool, artifact, folder, name)};
  code.function = index_of(code.listing, artifact.lowered_name, name);
  return code;
}

SassCode disassemble_one(const Artifact& artifact, const std::string& name) {
  const ScratchFolder scratch;
  return disassemble_artifact(nvdisasm(), scratch.path(), artifact, name);
}

SassCode load_artifact(const CodeOptions& options, const std::string& key) {
  const Artifact artifact = cached_artifact(open_cache(options.compile).get(), key);
  return disassemble_one(artifact, std::string(kArtifactPrefix) + artifact.key);
}

/// Loads the code that a run measured, if the cache still has it. Otherwise compiles its
/// configuration now.
SassCode load_case(const CodeOptions& options, const SassCase& one) {
  const auto cache = open_cache(options.compile);
  if (cache && !one.measured_key.empty()) {
    if (const auto artifact = cache->find(one.measured_key)) {
      return disassemble_one(*artifact, one.name());
    }
  }
  const Artifact artifact = artifact_of(compile(one.request(), cache.get()), one.name());
  if (!one.measured_key.empty() && artifact.key != one.measured_key) {
    spdlog::warn("the code that was measured is gone; this is what the compiler makes of {} now",
                 one.name());
  }
  return disassemble_one(artifact, one.name());
}

}  // namespace

std::string nvdisasm() {
  const auto tool = find_nvdisasm();
  if (!tool) {
    throw Error(
        ExitCode::bad_file, "nvdisasm, which reads machine code, is not installed", {},
        "scripts/setup --tools, 'pip install nvidia-cuda-nvdisasm' and CUDA toolkits install "
        "it; or set its path in FATUNE_NVDISASM");
  }
  return tool->string();
}

Listing disassemble(const std::string& tool, const std::filesystem::path& cubin,
                    const std::string& name, LineInfo lines) {
  std::vector<std::string> arguments{"-c"};
  if (lines == LineInfo::with) {
    arguments.insert(arguments.end(), {"-gi", "-gp"});
  }
  arguments.push_back(cubin.string());
  return parse_listing(run_program(tool, arguments).out, name);
}

Listing disassemble(const std::string& tool, const Artifact& artifact,
                    const std::filesystem::path& folder, const std::string& name, LineInfo lines) {
  static std::atomic<unsigned> count{0};
  const std::filesystem::path cubin = folder / fmt::format("{}.cubin", count++);
  write_output_file(cubin, {artifact.cubin.data(), artifact.cubin.size()});
  return disassemble(tool, cubin, name, lines);
}

std::size_t index_of(const Listing& listing, const std::string& name, const std::string& source) {
  for (std::size_t i = 0; i < listing.functions.size(); ++i) {
    if (listing.functions[i].name == name) {
      return i;
    }
  }
  throw Error(ExitCode::usage, fmt::format("there is no function '{}'", name), source);
}

SassCode load_code(const CodeOptions& options, const CodeSource& source) {
  using Kind = CodeSource::Kind;
  std::error_code ignored;
  switch (source.kind) {
    case Kind::file:
      return load_code_file(source.text, options);
    case Kind::artifact:
      return load_artifact(options, source.text);
    case Kind::either:
      if (source.text.starts_with(kArtifactPrefix)) {
        return load_artifact(options, source.text.substr(kArtifactPrefix.size()));
      }
      if (fs::exists(source.text, ignored)) {
        return load_code_file(source.text, options);
      }
      break;
    case Kind::config:
    case Kind::run:
      break;
  }
  return load_case(options, sass_case(options, source));
}

const CodeSource& named_source(const CodeOptions& options) {
  if (options.sources.empty()) {
    throw Error(
        ExitCode::usage, "no kernel is named", {},
        "name it with --config, --run, or, where the command has them, --cubin or --artifact");
  }
  return options.sources.front();
}

std::vector<std::optional<SassCode>> compile_code(const FamilySet& families,
                                                  const std::vector<Config>& configs,
                                                  const std::vector<Problem>& problems,
                                                  const DeviceLimits& limits,
                                                  const CompileSettings& settings) {
  const std::string tool = nvdisasm();
  std::vector<CompileRequest> requests;
  for (std::size_t i = 0; i < configs.size(); ++i) {
    requests.push_back(
        compile_request(families.of(configs[i]), configs[i], problems.at(i), limits.arch, limits));
  }
  const auto results = compile_all(requests, settings, open_cache(settings).get());
  const ScratchFolder scratch;
  std::vector<std::optional<SassCode>> codes(configs.size());
  for_each_index(configs.size(), job_count(settings), [&](std::size_t i) {
    const auto* artifact = std::get_if<Artifact>(results[i].get());
    if (artifact != nullptr && !InterruptWatch::interrupted()) {
      codes[i] = disassemble_artifact(tool, scratch.path(), *artifact,
                                      short_form(families.of(configs[i]), configs[i]));
    }
  });
  return codes;
}

}  // namespace fatune
