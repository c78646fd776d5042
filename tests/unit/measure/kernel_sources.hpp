#pragma once

#include <memory>
#include <string>
#include <vector>

#include "model/kernel_code.hpp"

namespace fatune {

/// Reads a file of kernels/ in the source tree. `name` is its path there, as #include names it.
/// Throws std::runtime_error if there is none.
[[nodiscard]] SourceFile read_kernel_file(const std::string& name);

/// Reads files of the source tree's kernels/ (FATUNE_KERNELS_DIR), the translation unit first, as
/// the program would provide them.
[[nodiscard]] std::shared_ptr<const SourceBundle> read_sources(
    const std::vector<std::string>& names);
/// Reads the sources of the measurement kernels.
[[nodiscard]] std::shared_ptr<const SourceBundle> read_measurement_sources();

/// Throws std::runtime_error with the compiler's log if the request does not compile.
[[nodiscard]] Artifact compile_or_throw(const CompileRequest& request);

}  // namespace fatune
