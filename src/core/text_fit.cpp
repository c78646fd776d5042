#include "core/text_fit.hpp"

#include <algorithm>
#include <cctype>

namespace fatune {
namespace {

constexpr std::string_view kLeftOut = "...";

bool begins_code_point(char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }

bool is_word_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

/// The end of the ANSI colour that begins at `at`; `at` if none begins there.
std::size_t after_colour(std::string_view text, std::size_t at) {
  if (text.substr(at, 2) != "\x1b[") {
    return at;
  }
  const std::size_t end = text.find('m', at);
  return end == std::string_view::npos ? at : end + 1;
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

/// The first `count` code points.
std::string_view first_of(std::string_view text, std::size_t count) {
  std::size_t at = 0;
  for (; at < text.size(); ++at) {
    if (begins_code_point(text[at]) && count-- == 0) {
      break;
    }
  }
  return text.substr(0, at);
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

std::size_t width_of(std::string_view text) {
  std::size_t width = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    i = after_colour(text, i);
    width += i < text.size() && begins_code_point(text[i]) ? 1U : 0U;
  }
  return width;
}

std::string shortened(std::string_view text, std::size_t columns) {
  const std::size_t width = width_of(text);
  if (width <= columns) {
    return std::string(text);
  }
  if (columns <= kLeftOut.size()) {
    return std::string(first_of(text, columns));
  }
  const std::size_t kept = columns - kLeftOut.size();
  const std::size_t end = kept / 2;
  const std::string_view before_end = first_of(text, width - end);
  return std::string(first_of(text, kept - end)) + std::string(kLeftOut) +
         std::string(text.substr(before_end.size()));
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
