#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "compile/compiler.hpp"

namespace fatune {

using CompileFunction = std::function<CompileResult(const CompileRequest&)>;

/// Compiles a request. An exception becomes CompileFailed.
[[nodiscard]] std::shared_ptr<const CompileResult> compile_guarded(
    const CompileFunction& compile_one, const CompileRequest& request);

/// Takes the result of the request with this index. Returns false to start no further compilation.
using TakeCompiled =
    std::function<bool(std::size_t index, const std::shared_ptr<const CompileResult>& result)>;

/// Compiles on `jobs` threads, in the order of the requests, and passes each result to `take` as it
/// finishes. `take` is called on those threads, one call at a time, so at most `jobs` results wait
/// for it. Requests with the same artifact_key are compiled once, by compile_guarded(), and share a
/// result. An exception from `take` is rethrown when the running compilations have ended.
void compile_each(const std::vector<CompileRequest>& requests, const CompileFunction& compile_one,
                  int jobs, const TakeCompiled& take);

}  // namespace fatune
