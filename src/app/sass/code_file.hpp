#pragma once

#include <filesystem>

#include "app/sass/code_options.hpp"
#include "app/sass/sass_code.hpp"

namespace fatune {

/// The machine code of a file: a cubin, what nvdisasm printed of one, or a file that cuobjdump
/// takes cubins from (an executable, a library, an object file, a fatbinary), of which the options'
/// architecture and function choose one. Errors as load_code.
[[nodiscard]] SassCode load_code_file(const std::filesystem::path& file,
                                      const CodeOptions& options);

}  // namespace fatune
