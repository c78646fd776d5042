#include "commands/sass/sass_code.hpp"

#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "app/artifacts/compile_batch.hpp"
#include "app/run/session.hpp"
#include "app/scratch_folder.hpp"
#include "commands/sass/cached_artifact.hpp"
#include "commands/sass/code_file.hpp"
#include "commands/sass/disassemble.hpp"
#include "commands/sass/sass_case.hpp"
#include "compile/compiler.hpp"
#include "core/error.hpp"
#include "core/for_each_index.hpp"
#include "engine/interrupt.hpp"
#include "plan/planner.hpp"
#include "plan/short_form.hpp"

namespace fatune {
namespace {

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
  const CompileResult result = compile(one.request(), cache.get());
  if (const std::string* log = failure_log(result)) {
    throw Error(ExitCode::bad_file, "the configuration does not compile", one.name(), *log);
  }
  const auto& artifact = std::get<Artifact>(result);
  if (!one.measured_key.empty() && artifact.key != one.measured_key) {
    spdlog::warn("the code that was measured is gone; this is what the compiler makes of {} now",
                 one.name());
  }
  return disassemble_one(artifact, one.name());
}

}  // namespace

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
