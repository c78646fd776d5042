#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace fatune {

/// Makes UTF-8 that is safe for a page, a terminal or an XML parser from any bytes. U+FFFD replaces
/// each byte that is not UTF-8, and each character that has an effect but no visible form: controls
/// (line breaks too), controls of the writing direction, blank format characters and noncharacters.
[[nodiscard]] std::string visible_text(std::string_view text);

/// Like visible_text(), but keeps line breaks and tabs.
[[nodiscard]] std::string visible_lines(std::string_view text);

/// Like visible_text(), but a line break, a tab or another control of ASCII becomes a blank: for
/// the lines and cells that people read.
[[nodiscard]] std::string visible_line(std::string_view text);

/// Replaces what visible_text() would replace by JSON's escapes. `json` is a JSON document in
/// UTF-8, which keeps its meaning.
[[nodiscard]] std::string visible_json(std::string_view json);

/// visible_text() with at most `most` columns. "..." replaces the excess in the middle.
[[nodiscard]] std::string visible_text(std::string_view text, std::size_t most);

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
