#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/export_format.hpp"
#include "data/file_tree.hpp"
#include "exchange/tuning_results.hpp"

namespace fatune {

/// The text of a file of the format. Precondition: the format can be imported.
[[nodiscard]] std::string tuning_file_text(ExportFormat format, const TuningResults& results);

/// Reads a file of the format; without one, of that which its members tell. Error(bad_file), which
/// names `origin`, the place and what would be right, when it is none or does not follow its
/// schema.
[[nodiscard]] TuningResults read_tuning_file(std::string_view text, const std::string& origin,
                                             std::optional<ExportFormat> format,
                                             const FileTree& tree);

}  // namespace fatune
