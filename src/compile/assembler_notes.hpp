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

}  // namespace fatune
