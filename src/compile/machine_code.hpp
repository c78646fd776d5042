#pragma once

#include <string>

#include "core/kernel_code.hpp"

namespace fatune {

/// SHA-256 (hex) over what the GPU executes: code, constants, shared memory, resources and
/// relocations of the cubin, without the kernel's name, symbols and debug information. Two
/// artifacts with the same hash do the same when they are launched in the same way. A cubin that is
/// no ELF file has a hash of its own.
[[nodiscard]] std::string machine_code_hash(const Artifact& artifact);

}  // namespace fatune
