#include "plan/text_cursor.hpp"

#include <cctype>

#include <fmt/format.h>

#include "base/text_parts.hpp"
#include "base/visible_text.hpp"

namespace fatune {

std::string printable(std::string_view text, std::size_t most_shown) {
  const std::string shown = visible_text(text.substr(0, most_shown));
  return text.size() > most_shown ? shown + "..." : shown;
}

TextCursor::TextCursor(std::string_view text, std::string usage)
    : text_(text), usage_(std::move(usage)) {
  if (text.size() > kMaxLength) {
    fail(fmt::format("longer than {} characters", kMaxLength));
  }
}

void TextCursor::skip_space() {
  while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) {
    ++at_;
  }
}

bool TextCursor::at_end() {
  skip_space();
  return at_ == text_.size();
}

bool TextCursor::accept(char c) {
  skip_space();
  const bool taken = at_ < text_.size() && text_[at_] == c;
  at_ += taken ? 1 : 0;
  return taken;
}

void TextCursor::expect(char c) {
  if (!accept(c)) {
    fail(fmt::format("expected '{}'", c));
  }
}

std::string_view TextCursor::word(std::string_view what) {
  skip_space();
  const std::size_t begin = at_;
  while (at_ < text_.size() && is_word_character(text_[at_])) {
    ++at_;
  }
  if (at_ == begin) {
    fail(fmt::format("expected {}", what));
  }
  return text_.substr(begin, at_ - begin);
}

void TextCursor::fail(const std::string& what) const {
  const std::string found = at_ < text_.size()
                                ? fmt::format("found '{}'", printable(rest().substr(0, 20)))
                                : "it ends there";
  throw UnreadableConfig(fmt::format("cannot read the configuration '{}': {} at position {}, {}",
                                     printable(text_), what, at_ + 1, found),
                         fmt::format("write it as {}", usage_), at_);
}

}  // namespace fatune
