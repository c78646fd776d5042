#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_tree.hpp"
#include "base/json_file.hpp"
#include "model/kernel_code.hpp"

namespace fatune {

/// The texts between quotes or angle brackets, in the text's directives, that may be names of
/// files, in order. Conditions are not evaluated and macros not expanded: "h.h" of `#define H
/// "h.h"` is among them, and so is that of `__has_include("h.h")`.
[[nodiscard]] std::vector<std::string_view> included_names(std::string_view text);

/// Loads the translation unit that `source` (a path within the family's folder) names, every header
/// of that folder and of kernels/common, and all code of the families in "includes" of `root`, each
/// under its path below kernels/. Other files that these include are added too, under the names
/// that include them; those that are found nowhere are left to the compiler, which says so. Throws
/// Error(bad_file) if there is no such file or family.
[[nodiscard]] std::shared_ptr<const SourceBundle> load_sources(const FileTree& tree,
                                                               const std::string& family,
                                                               const JsonNode& root,
                                                               const JsonNode& source,
                                                               const IncludePaths& paths);

/// True if a family's file may have this option for NVRTC: it is in the list, and so is the form of
/// its value. No option in the list names a file, and none is set by fatune.
[[nodiscard]] bool is_plain_compiler_option(std::string_view option);
/// What a file may have in its place, for messages: the form of the option's value, or all names.
[[nodiscard]] std::string plain_compiler_options(std::string_view option);

}  // namespace fatune
