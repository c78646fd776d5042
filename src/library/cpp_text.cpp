#include "library/cpp_text.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/visible_text.hpp"

namespace fatune {

std::string cpp_string(std::string_view text) {
  std::string literal = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      literal += fmt::format("\\{}", c);
    } else if (c < ' ' || c > '~') {
      // Three octal digits, so that a following digit is not part of the escape.
      literal += fmt::format("\\{:03o}", static_cast<unsigned char>(c));
    } else {
      literal += c;
    }
  }
  return literal + '"';
}

std::string cpp_comment(std::string_view text) {
  std::string comment = "// " + visible_line(text);
  std::ranges::replace(comment, '\\', '/');  // at the end of a line, it would continue the comment
  return comment;
}

}  // namespace fatune
