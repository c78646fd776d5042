#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fatune {

using CsvRow = std::vector<std::string>;

/// The rows of a comma-separated text (RFC 4180: quoted cells, doubled quotes, LF or CRLF), without
/// empty lines. Error(bad_file) names `source` and the row for a quote within a cell or without its
/// end, more than 256 MiB, a NUL byte, or one that is not UTF-8.
[[nodiscard]] std::vector<CsvRow> read_csv(std::string_view text, const std::string& source);

}  // namespace fatune
