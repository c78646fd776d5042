#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/kernel_code.hpp"

namespace fatune {

/// A file of kernels/ in the source tree; `name` is its path in there, and what #include says.
/// Throws std::runtime_error when there is none.
[[nodiscard]] SourceFile read_kernel_file(const std::string& name);

/// Files of the source tree's kernels/ (FATUNE_KERNELS_DIR), the translation unit first, as the
/// program would bring them.
[[nodiscard]] std::shared_ptr<const SourceBundle> read_sources(
    const std::vector<std::string>& names);
/// Those of the measurement kernels.
[[nodiscard]] std::shared_ptr<const SourceBundle> read_measurement_sources();

/// Throws std::runtime_error with the compiler's log when it does not compile.
[[nodiscard]] Artifact compile_or_throw(const CompileRequest& request);

}  // namespace fatune
