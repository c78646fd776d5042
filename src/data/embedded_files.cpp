#include "data/embedded_files.hpp"

#include <cstddef>
#include <cstdint>

namespace {

// Layout of the table that cmake/fatune_embed.cmake writes: three 64-bit words per file.
struct TableRow {
  const char* path;
  const char* begin;
  std::uint64_t size_bytes;
};

}  // namespace

extern "C" {
// Defined in the generated assembler file.
extern const TableRow fatune_embedded_table[];     // NOLINT(readability-identifier-naming)
extern const std::uint64_t fatune_embedded_count;  // NOLINT(readability-identifier-naming)
}

namespace fatune {

std::size_t embedded_file_count() { return fatune_embedded_count; }

EmbeddedFile embedded_file(std::size_t index) {
  const TableRow& row = fatune_embedded_table[index];
  return {row.path, {row.begin, row.size_bytes}};
}

}  // namespace fatune
