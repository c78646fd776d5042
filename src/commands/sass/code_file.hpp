#pragma once

#include <filesystem>

#include "commands/sass/sass_code.hpp"
#include "commands/sass/sass_options.hpp"

namespace fatune {

/// Loads the machine code of a file: a cubin, the output of nvdisasm for one, or a file that
/// cuobjdump takes cubins from (an executable, a library, an object file, a fatbinary). The
/// options' architecture and function select one of these. Throws as load_code().
[[nodiscard]] SassCode load_code_file(const std::filesystem::path& file,
                                      const CodeOptions& options);

}  // namespace fatune
