#pragma once

#include <filesystem>
#include <string>

namespace fatune {

/// The member "format" of a JSON file's outermost object, such as "fatune.results". The file is
/// read no further than that. Empty if there is no such member, or the file is not JSON.
/// Error(bad_file) if it cannot be read.
[[nodiscard]] std::string output_format_of(const std::filesystem::path& file);

}  // namespace fatune
