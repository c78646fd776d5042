#pragma once

#include <memory>
#include <string>

#include "core/kernel_code.hpp"
#include "data/file_tree.hpp"
#include "data/include_paths.hpp"
#include "data/json_file.hpp"

namespace fatune {

/// Loads the translation unit that `source` (a path within the family's folder) names, every header
/// of that folder and of kernels/common, and all code of the families in "includes" of `root`, each
/// under its path below kernels/. Other files that these include are added too
/// (included_files.hpp). Throws Error(bad_file) if there is no such file or family.
[[nodiscard]] std::shared_ptr<const SourceBundle> load_sources(const FileTree& tree,
                                                               const std::string& family,
                                                               const JsonNode& root,
                                                               const JsonNode& source,
                                                               const IncludePaths& paths);

}  // namespace fatune
