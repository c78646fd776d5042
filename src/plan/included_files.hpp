#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/kernel_code.hpp"
#include "data/file_tree.hpp"
#include "data/include_paths.hpp"

namespace fatune {

/// What #include lines of a text name, in order. Conditions are not looked at; names that macros
/// give are not found.
[[nodiscard]] std::vector<std::string> included_names(std::string_view text);

/// Follows the #include lines of the bundle's files. What they find in `folder` (below kernels/,
/// with its '/') beside the including file or from the folder's top is added to the headers under
/// the name that they use. What is neither there nor among the headers is looked for in `paths`;
/// then the bundle names these folders, and has a digest of every file that may be read. What is
/// nowhere is left to the compiler. Bundles without such includes stay as they are.
void add_included_files(const FileTree& tree, const std::string& folder, const IncludePaths& paths,
                        SourceBundle& bundle);

}  // namespace fatune
