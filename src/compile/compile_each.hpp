#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "compile/compiler.hpp"

namespace fatune {

using CompileFunction = std::function<CompileResult(const CompileRequest&)>;

/// An exception becomes CompileFailed.
[[nodiscard]] std::shared_ptr<const CompileResult> compile_guarded(
    const CompileFunction& compile_one, const CompileRequest& request);

/// Takes the result of the request with this index. False: no further compilation starts.
using TakeCompiled =
    std::function<bool(std::size_t index, const std::shared_ptr<const CompileResult>& result)>;

/// Compiles on `jobs` threads, in the order of the requests, and hands the results over as they
/// finish: one at a time, on those threads, so that no more results than jobs wait for `take`.
/// Requests with the same artifact_key are compiled once and share a result. compile_guarded()
/// compiles; what `take` throws is thrown when the compilations under way have ended.
void compile_each(const std::vector<CompileRequest>& requests, const CompileFunction& compile_one,
                  int jobs, const TakeCompiled& take);

}  // namespace fatune
