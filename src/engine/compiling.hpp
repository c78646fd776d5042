#pragma once

#include <memory>
#include <string>
#include <vector>

#include "gpu/compiler.hpp"
#include "gpu/cubin_cache.hpp"
#include "model/options.hpp"

namespace fatune {

/// Opens the cache that the options and the environment name. Null: --no-cache, or, with one
/// warning, no folder is named.
[[nodiscard]] std::unique_ptr<CubinCache> open_cache(const CompileSettings& settings);
[[nodiscard]] int job_count(const CompileSettings& settings);

/// Compiles on several threads. The results are in the order of the requests. A result is null if
/// an interrupt prevented its compilation. `cache` may be null.
[[nodiscard]] std::vector<std::shared_ptr<const CompileResult>> compile_all(
    const std::vector<CompileRequest>& requests, const CompileSettings& settings,
    CubinCache* cache);

/// Returns the compiled artifact. Throws Error(bad_file), naming the configuration, if it does not
/// compile.
[[nodiscard]] Artifact artifact_of(CompileResult result, const std::string& config);

}  // namespace fatune
