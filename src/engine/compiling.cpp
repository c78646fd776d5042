#include "engine/compiling.hpp"

#include <mutex>
#include <utility>
#include <variant>

#include <spdlog/spdlog.h>

#include "base/error.hpp"
#include "base/task_pool.hpp"
#include "engine/interrupt.hpp"

namespace fatune {

std::unique_ptr<CubinCache> open_cache(const CompileSettings& settings) {
  if (settings.no_cache) {
    return nullptr;
  }
  CacheSettings cache = cache_settings_from_environment();
  cache.folder = settings.cache_dir.value_or(cache.folder);
  if (cache.folder.empty()) {
    static std::once_flag said;
    std::call_once(said, [] { spdlog::warn("compiled kernels are not kept: {}", kNoCacheFolder); });
    return nullptr;
  }
  return std::make_unique<CubinCache>(std::move(cache));
}

int job_count(const CompileSettings& settings) {
  return settings.jobs > 0 ? settings.jobs : usable_cores();
}

std::vector<std::shared_ptr<const CompileResult>> compile_all(
    const std::vector<CompileRequest>& requests, const CompileSettings& settings,
    CubinCache* cache) {
  std::vector<std::shared_ptr<const CompileResult>> results(requests.size());
  compile_each(
      requests, [cache](const CompileRequest& request) { return compile(request, cache); },
      job_count(settings),
      [&](std::size_t index, const auto& result) {
        results.at(index) = result;
        return !InterruptWatch::interrupted();
      });
  return results;
}

Artifact artifact_of(CompileResult result, const std::string& config) {
  if (const std::string* log = failure_log(result)) {
    throw Error(ExitCode::bad_file, "the configuration does not compile", config, *log);
  }
  return std::get<Artifact>(std::move(result));
}

}  // namespace fatune
