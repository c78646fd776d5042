#pragma once

#include <string>
#include <string_view>

namespace fatune {

/// Escapes `text`, which may have any bytes, for HTML and XML, between tags or in a quoted
/// attribute: visible_text() with & < > " ' escaped.
[[nodiscard]] std::string markup(std::string_view text);

/// Escapes `text`, which may have any bytes, for a place within a line of Markdown: visible_line()
/// in which nothing begins HTML, code, links, emphasis, mathematics or another cell of a table.
[[nodiscard]] std::string markdown(std::string_view text);

/// Escapes whole lines: markdown() for each, and none begins a heading, a list, a quote or a rule.
/// Keeps the line breaks.
[[nodiscard]] std::string markdown_lines(std::string_view lines);

/// A block of Markdown that shows lines as they are. No line can end it.
[[nodiscard]] std::string markdown_code(std::string_view lines);

}  // namespace fatune
