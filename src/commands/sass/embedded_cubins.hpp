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
/// Determines the kind by the first bytes of the file.
[[nodiscard]] CodeFileKind code_file_kind(std::string_view bytes);

/// Extracts the cubins that a file embeds into `folder` with cuobjdump. Returns those for `arch`,
/// or for the only architecture. Throws Error(bad_file) if cuobjdump is not installed or finds
/// none, and Error(usage) if there is none for `arch` or there are several architectures to choose
/// from.
[[nodiscard]] std::vector<std::filesystem::path> embedded_cubins(
    const std::filesystem::path& file, std::optional<Arch> arch,
    const std::filesystem::path& folder);

}  // namespace fatune
