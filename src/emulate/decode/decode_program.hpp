#pragma once

#include <string>

#include "emulate/program.hpp"
#include "ptx/parse_ptx.hpp"

namespace fatune::emulate {

/// Resolves every name and type of a kernel's instructions. Throws Error(bad_file), naming the
/// opcode, the line and `origin`, for anything that the emulator does not cover, and Error(usage)
/// if the module has no such kernel.
[[nodiscard]] Program decode_program(const PtxModule& module, const std::string& kernel,
                                     const std::string& origin);

}  // namespace fatune::emulate
