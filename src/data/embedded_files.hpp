#pragma once

#include <span>
#include <string_view>

namespace fatune {

/// A data file as it stands in the program's read-only memory (cmake/fatune_embed.cmake).
struct EmbeddedFile {
  std::string_view path;  ///< relative to the repository: "kernels/flash_sm80/family.json"
  std::string_view bytes;
};

/// Number of embedded files; `embedded_file(index)` for index below it. Costs no start-up time: the
/// table is part of the program's image.
[[nodiscard]] std::size_t embedded_file_count();
[[nodiscard]] EmbeddedFile embedded_file(std::size_t index);

}  // namespace fatune
