#include "core/text_fit.hpp"

#include <algorithm>
#include <cctype>

#include <utf8proc.h>

namespace fatune {
namespace {

constexpr std::string_view kLeftOut = "...";

bool is_word_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

struct Unit {
  std::size_t bytes = 0;
  std::size_t columns = 0;
};

/// The ANSI colour or the code point that the text, which is not empty, begins with.
Unit first_unit(std::string_view text) {
  const std::size_t end = text.starts_with("\x1b[") ? text.find('m') : std::string_view::npos;
  if (end != std::string_view::npos) {
    return {end + 1, 0};
  }
  const CodePoint first = first_code_point(text);
  const bool narrow = first.bytes == 1;  // ASCII, or a byte that is shown as U+FFFD
  return {first.bytes, narrow ? 1U : static_cast<std::size_t>(utf8proc_charwidth(first.value))};
}

/// True for a '+' between two words of a list, not for a sign.
bool ends_list_word(std::string_view text, std::size_t at) {
  return text[at] == '+' && at > 0 && at + 1 < text.size() && is_word_character(text[at - 1]) &&
         is_word_character(text[at + 1]);
}

/// The unbreakable pieces of a text, each with its trailing blanks.
std::vector<std::string_view> pieces_of(std::string_view text) {
  std::vector<std::string_view> pieces;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool last_blank = text[i] == ' ' && (i + 1 == text.size() || text[i + 1] != ' ');
    if (last_blank || ends_list_word(text, i) || i + 1 == text.size()) {
      pieces.push_back(text.substr(begin, i + 1 - begin));
      begin = i + 1;
    }
  }
  return pieces;
}

std::string_view without_blanks_behind(std::string_view text) {
  return text.substr(0, text.find_last_not_of(' ') + 1);
}

/// Fills lines with pieces. The first line has a width of its own.
std::vector<std::string> filled(std::string_view text, std::size_t first, std::size_t others) {
  std::vector<std::string> lines{""};
  for (const std::string_view piece : pieces_of(text)) {
    const std::size_t room = lines.size() == 1 ? first : others;
    const std::size_t needed = width_of(lines.back()) + width_of(without_blanks_behind(piece));
    if (!lines.back().empty() && needed > room) {
      lines.emplace_back();
    }
    lines.back() += piece;
  }
  for (std::string& line : lines) {
    line = without_blanks_behind(line);
  }
  return lines;
}

std::string wrapped_line(std::string_view line, std::size_t columns) {
  if (width_of(line) <= columns) {
    return std::string(line);
  }
  constexpr std::size_t kFurther = 2;
  const std::size_t inset = std::min(line.find_first_not_of(' '), columns / 2) + kFurther;
  const std::size_t others = columns > inset ? columns - inset : 1;
  std::string text;
  for (const std::string& part : filled(line, columns, others)) {
    text += text.empty() ? part : "\n" + std::string(inset, ' ') + part;
  }
  return text;
}

}  // namespace

CodePoint first_code_point(std::string_view text) {
  utf8proc_int32_t value = 0;
  const auto bytes = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                      std::ssize(text), &value);
  return bytes > 0 ? CodePoint{value, static_cast<std::size_t>(bytes)} : CodePoint{};
}

std::string_view first_columns(std::string_view text, std::size_t columns) {
  std::size_t at = 0;
  while (at < text.size()) {
    const Unit unit = first_unit(text.substr(at));
    if (unit.columns > columns) {
      break;
    }
    columns -= unit.columns;
    at += unit.bytes;
  }
  return text.substr(0, at);
}

std::size_t width_of(std::string_view text) {
  std::size_t width = 0;
  while (!text.empty()) {
    const Unit unit = first_unit(text);
    width += unit.columns;
    text.remove_prefix(unit.bytes);
  }
  return width;
}

std::string shortened(std::string_view text, std::size_t columns) {
  const std::size_t width = width_of(text);
  if (width <= columns) {
    return std::string(text);
  }
  if (columns <= kLeftOut.size()) {
    return std::string(first_columns(text, columns));
  }
  const std::size_t kept = columns - kLeftOut.size();
  const std::size_t end = kept / 2;
  std::string_view tail = text.substr(first_columns(text, width - end).size());
  if (width_of(tail) > end) {  // the cut is in the middle of a wide character
    tail.remove_prefix(first_columns(tail, 2).size());
  }
  return std::string(first_columns(text, kept - end)) + std::string(kLeftOut) + std::string(tail);
}

std::vector<std::string> wrapped(std::string_view text, std::size_t columns) {
  std::vector<std::string> lines = filled(text, columns, columns);
  for (std::string& line : lines) {
    line = shortened(line, columns);
  }
  return lines;
}

std::size_t widest_word(std::string_view text) {
  std::size_t widest = 0;
  for (const std::string_view piece : pieces_of(text)) {
    widest = std::max(widest, width_of(without_blanks_behind(piece)));
  }
  return widest;
}

std::string wrapped_lines(std::string_view text, std::size_t columns) {
  if (columns == 0) {
    return std::string(text);
  }
  std::string all;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    all += wrapped_line(text.substr(begin, end - begin), columns);
    all += end < text.size() ? "\n" : "";
    begin = end + 1;
  }
  return all;
}

}  // namespace fatune
