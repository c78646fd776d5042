#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/kernel_code.hpp"

namespace fatune {

struct ElfSection {
  std::string name;
  std::int64_t bytes = 0;
  std::span<const char> contents;  ///< within the file; empty for a section that has only a size
};

/// The sections of a cubin (a 64-bit little-endian ELF file), in file order. Throws Error(internal)
/// for other bytes; never reads outside them.
[[nodiscard]] std::vector<ElfSection> read_elf_sections(std::span<const char> file);

/// The kernels and device functions with code of their own: sections ".text.<name>".
[[nodiscard]] std::vector<std::string> code_names(const std::vector<ElfSection>& sections);

/// Bytes of the section with that name; 0 if there is none.
[[nodiscard]] std::int64_t section_bytes(const std::vector<ElfSection>& sections,
                                         std::string_view name);

/// SHA-256 (hex) over what the GPU executes: code, constants, shared memory, resources and
/// relocations of the cubin, without the kernel's name, symbols and debug information. Two
/// artifacts with the same hash do the same if they are launched in the same way. A cubin that is
/// not an ELF file is hashed as a whole, together with the artifact's key.
[[nodiscard]] std::string machine_code_hash(const Artifact& artifact);

/// The bytes of each parameter of a kernel, in order, from its cubin (section .nv.info.<kernel>).
/// Returns nothing if the cubin does not say. Never throws, even if the bytes are not a cubin.
[[nodiscard]] std::optional<std::vector<std::int64_t>> parameter_sizes(
    std::span<const char> cubin, const std::string& lowered_name);

/// Describes how a kernel's parameters differ from the arguments that it is called with, and names
/// the place in family.json. Returns nothing if number and sizes agree, or if the machine code does
/// not say.
[[nodiscard]] std::optional<std::string> argument_mismatch(const Artifact& artifact,
                                                           const KernelArguments& arguments);

}  // namespace fatune
