#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// Pure functions that fit text into a number of columns.
namespace fatune {

struct CodePoint {
  std::int32_t value = 0;  ///< 0 also for a byte that is not UTF-8
  std::size_t bytes = 1;
};
/// The code point that UTF-8 text, which is not empty, begins with.
[[nodiscard]] CodePoint first_code_point(std::string_view text);

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
