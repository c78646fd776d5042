#pragma once

#include <string>
#include <variant>
#include <vector>

#include "core/kernel_code.hpp"
#include "core/outcome.hpp"

namespace fatune {

class CubinCache;

using CompileResult = std::variant<Artifact, CompileFailed>;

/// Compiles one configuration for a real architecture, or takes it from the cache. A compilation
/// that fails is a result with the compiler's full log, whatever the reason; nothing is thrown for
/// it. `keep_ptx` fills Artifact::ptx (a cached entry without PTX is compiled again and replaced).
/// Safe to call from several threads at once, with the same cache.
[[nodiscard]] CompileResult compile(const CompileRequest& request, CubinCache* cache = nullptr,
                                    bool keep_ptx = false);

/// Compiles to PTX and no further, which takes about half the time. An artifact without machine
/// code and facts, with a key and a cache entry of its own; for the rest as compile().
[[nodiscard]] CompileResult compile_to_ptx(const CompileRequest& request,
                                           CubinCache* cache = nullptr);

/// A request for the same with tables of source and PTX lines in the cubin, and .loc in the PTX:
/// another artifact, with the same code and constants (its symbols have other numbers).
[[nodiscard]] CompileRequest with_line_info(CompileRequest request);

/// NVRTC's options: architecture, the request's defines and options, and the ptxas report.
[[nodiscard]] std::vector<std::string> nvrtc_options(const CompileRequest& request);

/// Content address (64 hex digits, SHA-256) of the machine code: sources and headers with their
/// names, options, defines, entry point, architecture, NVRTC's version.
[[nodiscard]] std::string artifact_key(const CompileRequest& request);

[[nodiscard]] std::string toolchain_name();  ///< "NVRTC 13.0"

/// Throws Error(usage) unless NVRTC compiles for it; the message lists what it does compile for.
void check_arch_supported(Arch arch);

}  // namespace fatune
