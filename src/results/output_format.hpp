#pragma once

#include <filesystem>
#include <string>

namespace fatune {

/// The text of the member "format" of the object that a JSON file is: "fatune.results". Read no
/// further than up to there; empty when there is none, or the file is no JSON. Error(bad_file) when
/// it cannot be read.
[[nodiscard]] std::string output_format_of(const std::filesystem::path& file);

}  // namespace fatune
