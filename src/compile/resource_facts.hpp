#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/kernel_code.hpp"

namespace fatune {

/// The facts of one kernel of a module: registers, stack, spills, shared memory and notes from
/// ptxas' report in NVRTC's log, code and constant sizes from the cubin's ELF sections. Throws
/// Error(internal) when either does not mention the kernel.
/// `lowered_name`: the mangled name.
[[nodiscard]] ResourceFacts read_resource_facts(std::string_view log, std::span<const char> cubin,
                                                const std::string& lowered_name);

}  // namespace fatune
