#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/error.hpp"

namespace fatune {

/// Error(usage): a text is no configuration.
class UnreadableConfig : public Error {
 public:
  UnreadableConfig(const std::string& what_was_wrong, const std::string& remedy,
                   std::size_t position);

  [[nodiscard]] std::size_t position() const noexcept { return position_; }  ///< of the mistake

 private:
  std::size_t position_;
};

/// Reads a configuration's text from left to right. White space between tokens never matters.
class TextCursor {
 public:
  static constexpr std::size_t kMaxLength = 4096;  ///< a kernel's name with its arguments has less

  /// `usage` is how the text should look: the remedy of every error. Error(usage) when it is longer
  /// than kMaxLength.
  TextCursor(std::string_view text, std::string usage);

  [[nodiscard]] bool at_end();        ///< nothing but white space is left
  [[nodiscard]] bool accept(char c);  ///< takes `c` if it is next
  void expect(char c);                ///< takes `c`; Error(usage) if it is not next
  /// Takes letters, digits, underscores; Error(usage) saying that `what` was expected when there
  /// are none.
  [[nodiscard]] std::string_view word(std::string_view what);

  [[nodiscard]] std::size_t position() const { return at_; }
  [[nodiscard]] std::string_view rest() const { return text_.substr(at_); }
  void skip_to(std::size_t position) { at_ = position; }

  /// UnreadableConfig: "cannot read the configuration '...': <what> at position 7 ('...')"
  [[noreturn]] void fail(const std::string& what) const;

 private:
  void skip_space();

  std::string_view text_;
  std::string usage_;
  std::size_t at_ = 0;
};

/// A letter, a digit or an underscore, of ASCII.
[[nodiscard]] bool is_word_character(char c);

/// `text` for a message: at most so many characters, and what does not print replaced by '?'.
[[nodiscard]] std::string printable(std::string_view text, std::size_t most_shown = 100);

}  // namespace fatune
