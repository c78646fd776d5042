#pragma once

#include <memory>

#include "core/kernel_code.hpp"
#include "data/file_tree.hpp"

// Sources of the kernels that measuring needs, read from `kernels/`.
namespace fatune {

/// Reads the sources of the kernels that make inputs and references, and compare.
[[nodiscard]] std::shared_ptr<const SourceBundle> read_measurement_sources(const FileTree& tree);

/// Reads the sources of the kernel that measures the rate of dense products.
[[nodiscard]] std::shared_ptr<const SourceBundle> read_matmul_sources(const FileTree& tree);

}  // namespace fatune
