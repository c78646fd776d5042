#include "base/visible_text.hpp"

#include <utf8proc.h>
#include <algorithm>
#include <array>
#include <cstdint>

#include <fmt/format.h>

#include "base/text_parts.hpp"

namespace fatune {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

struct CodePoint {
  std::int32_t value = 0;  ///< 0 also for a byte that is not UTF-8
  std::size_t bytes = 1;
};

/// The code point that UTF-8 text, which is not empty, begins with.
CodePoint first_code_point(std::string_view text) {
  utf8proc_int32_t value = 0;
  const auto bytes = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                      std::ssize(text), &value);
  return bytes > 0 ? CodePoint{value, static_cast<std::size_t>(bytes)} : CodePoint{};
}

/// True for Unicode's controls, format characters without a visible form, surrogates and
/// noncharacters.
bool is_invisible(std::int32_t code_point) {
  constexpr std::int32_t kEndOfPlane = 0xFFFE;
  const utf8proc_property_t& property = *utf8proc_get_property(code_point);
  switch (property.category) {
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
      return true;
    case UTF8PROC_CATEGORY_MN:  // marks and variation selectors belong to a visible character
      return false;
    default:
      return property.ignorable != 0 || (code_point & kEndOfPlane) == kEndOfPlane ||
             (0xFDD0 <= code_point && code_point <= 0xFDEF) ||
             (0xFFF9 <= code_point && code_point <= 0xFFFB);
  }
}

/// The code point as JSON escapes it: as UTF-16.
std::string json_escape(std::int32_t value) {
  const auto code_point = static_cast<std::uint32_t>(value);
  constexpr std::uint32_t kFirstPair = 0x10000;
  return code_point < kFirstPair
             ? fmt::format("\\u{:04x}", code_point)
             : fmt::format("\\u{:04x}\\u{:04x}", 0xD800U + ((code_point - kFirstPair) >> 10U),
                           0xDC00U + ((code_point - kFirstPair) & 0x3FFU));
}

bool is_ascii_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20U || byte == 0x7FU;
}

void append_escaped(std::string& escaped, char c) {
  constexpr std::string_view kMarks = "&<>\"'";
  constexpr std::array<std::string_view, 5> kEntities{"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
  const std::size_t mark = kMarks.find(c);
  escaped += mark == kMarks.npos ? std::string_view(&c, 1) : kEntities[mark];
}

void append_markdown(std::string& escaped, char c) {
  constexpr std::string_view kMarks = "\\|`*[]$~";
  if (c == '<' || c == '&') {
    append_escaped(escaped, c);
    return;
  }
  escaped += kMarks.find(c) == std::string_view::npos ? std::string(1, c) : std::string{'\\', c};
}

/// The position of the mark that makes a line a heading, a quote, an item of a list, a rule or an
/// underline; the end of the line if there is none.
std::size_t block_mark(std::string_view line) {
  const std::size_t first = std::min(line.find_first_not_of(' '), line.size());
  const std::size_t mark = std::min(line.find_first_not_of("0123456789", first), line.size());
  const std::string_view rest = line.substr(mark);
  if (rest.empty()) {
    return mark;
  }
  const bool stands_alone = rest.substr(1).starts_with(' ') || rest.size() == 1;
  const bool is_rule = rest.find_first_not_of(std::string{rest.front(), ' '}) == rest.npos;
  const std::string_view marks = mark > first   ? stands_alone ? ".)" : ""
                                 : is_rule      ? "#>+-=_"
                                 : stands_alone ? "#>+-"
                                                : "#>";
  return marks.find(rest.front()) == marks.npos ? line.size() : mark;
}

std::size_t longest_run(std::string_view text, char of) {
  std::size_t longest = 0;
  std::size_t run = 0;
  for (const char c : text) {
    run = c == of ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  return longest;
}

constexpr std::string_view kLeftOut = "...";

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

std::string visible_text(std::string_view text) {
  std::string shown;
  shown.reserve(text.size());
  while (!text.empty()) {
    const CodePoint first = first_code_point(text);
    shown += is_invisible(first.value) ? kReplacement : text.substr(0, first.bytes);
    text.remove_prefix(first.bytes);
  }
  return shown;
}

std::string visible_lines(std::string_view text) {
  std::string shown;
  for (std::size_t end = 0; end != std::string_view::npos;) {
    end = text.find_first_of("\n\t");
    shown += visible_text(text.substr(0, end));
    shown += end == std::string_view::npos ? std::string_view() : text.substr(end, 1);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return shown;
}

std::string visible_line(std::string_view text) {
  std::string line(text);
  std::ranges::replace_if(line, is_ascii_control, ' ');
  return visible_text(line);
}

std::string visible_json(std::string_view json) {
  constexpr unsigned char kFirst = 0x7F;  // below it, JSON has only line breaks outside of strings
  std::string shown;
  shown.reserve(json.size());
  while (!json.empty()) {
    const auto plain =
        std::ranges::find_if(json, [](char c) { return static_cast<unsigned char>(c) >= kFirst; });
    const auto length = static_cast<std::size_t>(plain - json.begin());
    shown += json.substr(0, length);
    json.remove_prefix(length);
    if (!json.empty()) {
      const CodePoint first = first_code_point(json);
      shown += is_invisible(first.value) ? json_escape(first.value)
                                         : std::string(json.substr(0, first.bytes));
      json.remove_prefix(first.bytes);
    }
  }
  return shown;
}

std::string visible_text(std::string_view text, std::size_t most) {
  return shortened(visible_text(text), most);
}

std::string markdown(std::string_view text) {
  std::string escaped;
  for (const char c : visible_line(text)) {
    append_markdown(escaped, c);
  }
  return escaped;
}

std::string markdown_lines(std::string_view lines) {
  std::string escaped;
  while (!lines.empty()) {
    const bool ends = lines.find('\n') != std::string_view::npos;
    const std::string_view line = take_until(lines, '\n');
    const std::size_t mark = block_mark(line);
    escaped += markdown(line.substr(0, mark)) + (mark < line.size() ? "\\" : "");
    escaped += markdown(line.substr(mark)) + (ends ? "\n" : "");
  }
  return escaped;
}

std::string markdown_code(std::string_view lines) {
  constexpr std::size_t kShortest = 3;
  const std::string fence(std::max(kShortest, longest_run(lines, '`') + 1), '`');
  return fence + "\n" + visible_lines(lines) + fence + "\n";
}

std::string markup(std::string_view text) {
  std::string escaped;
  for (const char c : visible_text(text)) {
    append_escaped(escaped, c);
  }
  return escaped;
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

std::size_t utf8_bytes(std::string_view text) {
  std::size_t bytes = 0;
  while (bytes < text.size()) {
    const CodePoint next = first_code_point(text.substr(bytes));
    if (next.value == 0 && text[bytes] != '\0') {
      break;
    }
    bytes += next.bytes;
  }
  return bytes;
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
