#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace fatune {

/// A data file in the program's read-only memory: a row of the table that cmake/fatune_embed.cmake
/// writes, of three 64-bit words.
struct EmbeddedFile {
  const char* path;  ///< relative to the repository: "kernels/flash_sm80/family.json"
  const char* begin;
  std::uint64_t size_bytes;

  [[nodiscard]] std::string_view bytes() const { return {begin, size_bytes}; }
};

extern "C" {
// Defined in the generated assembler file.
extern const EmbeddedFile fatune_embedded_table[];  // NOLINT(readability-identifier-naming)
extern const std::uint64_t fatune_embedded_count;   // NOLINT(readability-identifier-naming)
}

/// All embedded files. Costs no start-up time: the table is part of the program's image.
[[nodiscard]] inline std::span<const EmbeddedFile> embedded_files() {
  return {fatune_embedded_table, fatune_embedded_count};
}

}  // namespace fatune
