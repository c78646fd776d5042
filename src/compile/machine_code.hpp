#pragma once

#include <string>

#include "core/kernel_code.hpp"

namespace fatune {

/// SHA-256 (hex) over what the GPU executes: code, constants, shared memory, resources and
/// relocations of the cubin, without the kernel's name, symbols and debug information. Two
/// artifacts with the same hash do the same if they are launched in the same way. A cubin that is
/// not an ELF file is hashed as a whole, together with the artifact's key.
[[nodiscard]] std::string machine_code_hash(const Artifact& artifact);

}  // namespace fatune
