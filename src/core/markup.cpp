#include "core/markup.hpp"

#include <algorithm>

#include "core/text_parts.hpp"
#include "core/visible_text.hpp"

namespace fatune {
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
