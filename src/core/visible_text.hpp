#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace fatune {

/// Makes UTF-8 that is safe for a page, a terminal or an XML parser from any bytes. U+FFFD replaces
/// each byte that is not UTF-8, and each character that has an effect but no visible form: controls
/// (line breaks too), controls of the writing direction, characters without width, surrogates and
/// noncharacters.
[[nodiscard]] std::string visible_text(std::string_view text);

/// Like visible_text(), but keeps line breaks and tabs.
[[nodiscard]] std::string visible_lines(std::string_view text);

/// visible_text() with at most `most` code points. "..." replaces the excess in the middle.
[[nodiscard]] std::string visible_text(std::string_view text, std::size_t most);

}  // namespace fatune
