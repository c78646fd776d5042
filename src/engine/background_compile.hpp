#pragma once

#include <future>

#include "compile/compiler.hpp"
#include "compile/cubin_cache.hpp"
#include "core/kernel_code.hpp"

namespace fatune {

/// Compiles on a thread of its own. `cache` may be null, and must outlive the result's last copy,
/// whose end waits for the compiler.
[[nodiscard]] inline std::shared_future<CompileResult> compile_in_background(CompileRequest request,
                                                                             CubinCache* cache) {
  return std::async(std::launch::async,
                    [request = std::move(request), cache] { return compile(request, cache); })
      .share();
}

}  // namespace fatune
