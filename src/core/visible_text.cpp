#include "core/visible_text.hpp"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>
#include <utf8proc.h>

#include "core/text_fit.hpp"
#include "core/text_parts.hpp"

namespace fatune {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

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

namespace {

void append_escaped(std::string& escaped, char c) {
  switch (c) {
    case '&':
      escaped += "&amp;";
      break;
    case '<':
      escaped += "&lt;";
      break;
    case '>':
      escaped += "&gt;";
      break;
    case '"':
      escaped += "&quot;";
      break;
    case '\'':
      escaped += "&#39;";
      break;
    default:
      escaped += c;
  }
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

}  // namespace

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

}  // namespace fatune
