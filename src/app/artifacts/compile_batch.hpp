#pragma once

#include <memory>
#include <vector>

#include "app/option_groups.hpp"
#include "compile/compiler.hpp"
#include "compile/cubin_cache.hpp"

namespace fatune {

/// Compiles on several threads. The results are in the order of the requests. A result is null if
/// an interrupt prevented its compilation. `cache` may be null.
[[nodiscard]] std::vector<std::shared_ptr<const CompileResult>> compile_all(
    const std::vector<CompileRequest>& requests, const CompileSettings& settings,
    CubinCache* cache);

}  // namespace fatune
