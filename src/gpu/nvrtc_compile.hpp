#pragma once

#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "model/kernel_code.hpp"
#include "model/outcome.hpp"

namespace fatune {

/// Reads from NVRTC's log what ptxas notes about a kernel's asynchronous products (wgmma that it
/// serialises, waits and fences that it injects) and about setmaxnreg that it ignores. A note that
/// names another of the module's kernels is left out; one that names a device function or no
/// function is kept. `kernels`: the mangled names of all kernels of the module.
[[nodiscard]] std::vector<AssemblerNote> read_assembler_notes(std::string_view log,
                                                              const std::string& kernel,
                                                              std::span<const std::string> kernels);

/// The facts of one kernel of a module: registers, stack, spills, shared memory and notes from
/// ptxas' report in NVRTC's log, code and constant sizes from the cubin's ELF sections. Throws
/// Error(internal) when either does not mention the kernel.
/// `lowered_name`: the mangled name.
[[nodiscard]] ResourceFacts read_resource_facts(std::string_view log, std::span<const char> cubin,
                                                const std::string& lowered_name);

/// Returns NVRTC's log. Each error that comes from the lack of a standard library gets a hint at
/// the end of its line: what is not there, and what to write instead.
[[nodiscard]] std::string with_hints(std::string_view log);

using CompileResult = std::variant<Artifact, CompileFailed, CompilerCrashed>;

/// What `compile` returns; if it throws, a failure that says why.
template <typename Compile>
[[nodiscard]] CompileResult guarded(const Compile& compile) {
  try {
    return compile();
  } catch (const std::exception& error) {
    return CompileFailed{error.what()};
  }
}

/// How a compilation without an artifact ended; nothing if there is one.
[[nodiscard]] std::optional<Outcome> failure_of(const CompileResult& result);
/// The log of a compilation without an artifact; null if there is one.
[[nodiscard]] const std::string* failure_log(const CompileResult& result);

/// The requested results of a compilation.
enum class CompileOutput { cubin, cubin_and_ptx, ptx };

/// Everything that NVRTC needs.
struct CompileJob {
  std::shared_ptr<const SourceBundle> sources;  ///< the translation unit and the headers count
  std::vector<std::string> options;             ///< all of them
  std::string entry_point;
  bool entry_is_template = false;
  CompileOutput output = CompileOutput::cubin;
  std::string key;  ///< Artifact::key
};

/// Compiles in this process. Throws gpu::NvrtcError if NVRTC itself fails.
[[nodiscard]] CompileResult compile_here(const CompileJob& job);

[[nodiscard]] std::string toolchain_name();  ///< "NVRTC 13.0"

}  // namespace fatune
