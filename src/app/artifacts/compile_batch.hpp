#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "app/options.hpp"
#include "compile/compile_pool.hpp"
#include "compile/compiler.hpp"
#include "compile/cubin_cache.hpp"

namespace fatune {

/// Waits for the pool's next result; nothing when there is none, or the user has interrupted it.
[[nodiscard]] std::optional<Compiled> next_compiled(CompilePool& pool);

/// Compiles on several threads; the results are in the order of the requests, null for those that
/// an interrupt has kept from being compiled. `cache` may be null.
[[nodiscard]] std::vector<std::shared_ptr<const CompileResult>> compile_all(
    std::vector<CompileRequest> requests, const CompileSettings& settings, CubinCache* cache);

}  // namespace fatune
