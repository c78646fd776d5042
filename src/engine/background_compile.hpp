#pragma once

#include <future>

#include "compile/compiler.hpp"
#include "compile/cubin_cache.hpp"
#include "core/kernel_code.hpp"

namespace fatune {

/// Compiles on a separate thread. `cache` may be null. It must outlive the last copy of the result,
/// whose destructor waits for the compiler.
[[nodiscard]] inline std::shared_future<CompileResult> compile_in_background(CompileRequest request,
                                                                             CubinCache* cache) {
  return std::async(std::launch::async,
                    [request = std::move(request), cache] { return compile(request, cache); })
      .share();
}

}  // namespace fatune
