#pragma once

#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

#include "core/arch.hpp"

namespace fatune {

enum class CodeFileKind {
  cubin,
  container,  ///< an ELF file for the host, or a fatbinary: may embed cubins
  text,       ///< anything else
};
/// By the first bytes of the file.
[[nodiscard]] CodeFileKind code_file_kind(std::string_view bytes);

/// Takes the cubins that a file embeds out of it, by cuobjdump, into `folder`: those for `arch`, or
/// for the only architecture that there is. Error(bad_file): cuobjdump is not installed, or finds
/// none; Error(usage): none for `arch`, or several architectures to choose from.
[[nodiscard]] std::vector<std::filesystem::path> embedded_cubins(
    const std::filesystem::path& file, std::optional<Arch> arch,
    const std::filesystem::path& folder);

}  // namespace fatune
