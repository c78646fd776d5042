#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

// Pure functions that fit text into a number of columns.
namespace fatune {

/// The columns that UTF-8 text takes: its code points, without ANSI colours.
[[nodiscard]] std::size_t width_of(std::string_view text);

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
