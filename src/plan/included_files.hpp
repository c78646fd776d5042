#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/kernel_code.hpp"
#include "data/file_tree.hpp"
#include "data/include_paths.hpp"

namespace fatune {

/// The names in a text's #include lines, in order. Conditions are not evaluated; names given by
/// macros are not found.
[[nodiscard]] std::vector<std::string> included_names(std::string_view text);

/// Follows the #include lines of the bundle's files. Files that are found in `folder` (below
/// kernels/, with its '/'), beside the including file or from the folder's top, are added to the
/// headers under the name in the #include line. Files that are neither there nor among the headers
/// are searched for in `paths`. The bundle then has these folders, and every file that may be read
/// in them. Files that are found nowhere are left to the compiler. Bundles without such includes do
/// not change.
void add_included_files(const FileTree& tree, const std::string& folder, const IncludePaths& paths,
                        SourceBundle& bundle);

}  // namespace fatune
