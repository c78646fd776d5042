#include "core/markup.hpp"

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

}  // namespace

std::string markup(std::string_view text) {
  std::string escaped;
  for (const char c : visible_text(text)) {
    append_escaped(escaped, c);
  }
  return escaped;
}

}  // namespace fatune
