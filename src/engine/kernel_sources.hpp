#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/kernel_code.hpp"
#include "data/file_tree.hpp"

namespace fatune {

/// Files of `kernels/` by their paths in there: the translation unit, then its headers.
[[nodiscard]] std::shared_ptr<const SourceBundle> read_kernel_sources(
    const FileTree& tree, const std::vector<std::string>& names);

}  // namespace fatune
