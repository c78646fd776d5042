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

}  // namespace fatune
