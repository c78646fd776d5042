#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

// Text that has to fit a number of columns: pure functions.
namespace fatune {

/// Columns that UTF-8 text takes: its code points, without ANSI colours.
[[nodiscard]] std::size_t width_of(std::string_view text);

/// At most `columns` wide: what is too much goes from the middle, "..." in its place.
[[nodiscard]] std::string shortened(std::string_view text, std::size_t columns);

/// The lines of text that is one line, broken between words, or after the '+' of a list; a word
/// that is wider than `columns` is shortened.
[[nodiscard]] std::vector<std::string> wrapped(std::string_view text, std::size_t columns);

/// Width of the widest piece that is not broken, without the blanks behind it.
[[nodiscard]] std::size_t widest_word(std::string_view text);

/// Each line that is wider than `columns` wrapped, its other lines two columns further in than it;
/// words that are wider stay whole. 0 columns: nothing is changed.
[[nodiscard]] std::string wrapped_lines(std::string_view text, std::size_t columns);

}  // namespace fatune
