#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/export_format.hpp"
#include "data/file_tree.hpp"
#include "exchange/tuning_results.hpp"

namespace fatune {

/// The text of a file in the format. Precondition: the format can be imported.
[[nodiscard]] std::string tuning_file_text(ExportFormat format, const TuningResults& results);

/// Reads a file in the format. Without one, the file's members tell the format. Error(bad_file)
/// names `origin`, the place and what would be right if the text has no such format or does not
/// follow its schema.
[[nodiscard]] TuningResults read_tuning_file(std::string_view text, const std::string& origin,
                                             std::optional<ExportFormat> format,
                                             const FileTree& tree);

}  // namespace fatune
