#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace fatune {

/// UTF-8 that a page, a terminal or an XML parser can be given, whatever the bytes of `text` are.
/// U+FFFD stands for each byte that is no UTF-8, and for each character that has an effect instead
/// of a form: controls (line breaks too), those of the direction of writing, those without width,
/// surrogates and noncharacters.
[[nodiscard]] std::string visible_text(std::string_view text);

/// The same of text with line breaks and tabs, which are left.
[[nodiscard]] std::string visible_lines(std::string_view text);

/// visible_text() with at most `most` code points: what is too much goes from the middle, "..." in
/// its place.
[[nodiscard]] std::string visible_text(std::string_view text, std::size_t most);

}  // namespace fatune
