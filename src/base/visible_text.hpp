#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

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

/// How many bytes of the text are UTF-8, from its beginning up to the first that is not.
[[nodiscard]] std::size_t utf8_bytes(std::string_view text);

// Pure functions that fit text into a number of columns.

/// The columns that UTF-8 text takes on a terminal, without ANSI colours. Characters of East Asian
/// scripts and emoji take two, combining marks none.
[[nodiscard]] std::size_t width_of(std::string_view text);

/// The longest beginning of a text that takes at most `columns`, with all marks of its last
/// character.
[[nodiscard]] std::string_view first_columns(std::string_view text, std::size_t columns);

/// Shortens text to at most `columns`. "..." replaces the excess in the middle.
[[nodiscard]] std::string shortened(std::string_view text, std::size_t columns);

/// Breaks one line of text into lines, between words or after the '+' of a list. A word that is
/// wider than `columns` is shortened.
[[nodiscard]] std::vector<std::string> wrapped(std::string_view text, std::size_t columns);

/// The width of the widest piece that is not broken, without trailing blanks.
[[nodiscard]] std::size_t widest_word(std::string_view text);

/// Wraps each line that is wider than `columns`. Its continuation lines are indented by two columns
/// more than it; wider words stay whole. 0 columns: nothing is changed.
[[nodiscard]] std::string wrapped_lines(std::string_view text, std::size_t columns);

}  // namespace fatune
