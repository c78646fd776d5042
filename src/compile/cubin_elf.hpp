#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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

}  // namespace fatune
