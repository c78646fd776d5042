#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/kernel_code.hpp"

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

}  // namespace fatune
