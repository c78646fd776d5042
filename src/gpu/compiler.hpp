#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "gpu/nvrtc_compile.hpp"
#include "model/kernel_code.hpp"

namespace fatune {

class CubinCache;

/// Compiles one configuration for a real architecture, or takes it from the cache. A failed
/// compilation is a result with the compiler's full log; nothing is thrown for it, whatever the
/// reason. `keep_ptx` fills Artifact::ptx (a cached entry without PTX is compiled again and
/// replaced). Safe to call from several threads at once, with the same cache.
[[nodiscard]] CompileResult compile(const CompileRequest& request, CubinCache* cache = nullptr,
                                    bool keep_ptx = false);

/// Compiles only to PTX, which takes about half the time. The artifact has no machine code or
/// facts, and a key and a cache entry of its own. Otherwise like compile().
[[nodiscard]] CompileResult compile_to_ptx(const CompileRequest& request,
                                           CubinCache* cache = nullptr);

/// The request for a cubin with tables of source and PTX lines, and PTX with .loc. Its
/// artifact has a key of its own, and equal code and constants; its symbols have other numbers.
[[nodiscard]] CompileRequest with_line_info(CompileRequest request);

/// Content address (64 hex digits, SHA-256) of the machine code: sources and headers with their
/// names, options, defines, entry point, architecture, NVRTC's version.
[[nodiscard]] std::string artifact_key(const CompileRequest& request);

/// Throws Error(usage) unless NVRTC compiles for `arch`; the message lists what it compiles for.
void check_arch_supported(Arch arch);

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
