#pragma once

#include <string>

#include "compile/nvrtc_compile.hpp"
#include "core/kernel_code.hpp"

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

}  // namespace fatune
