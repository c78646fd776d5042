#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/error.hpp"

namespace fatune {

/// The Error(usage) for a text that is not a configuration.
class UnreadableConfig : public Error {
 public:
  UnreadableConfig(const std::string& what_was_wrong, const std::string& remedy,
                   std::size_t position)
      : Error(ExitCode::usage, what_was_wrong, {}, remedy), position_(position) {}

  [[nodiscard]] std::size_t position() const noexcept { return position_; }  ///< where a mistake is

 private:
  std::size_t position_;
};

/// Reads a configuration's text from left to right. White space between tokens never matters.
class TextCursor {
 public:
  static constexpr std::size_t kMaxLength = 4096;  ///< kernels' names with arguments are shorter

  /// `usage` is how the text should look, which is the remedy of every error. Throws Error(usage)
  /// if the text is longer than kMaxLength.
  TextCursor(std::string_view text, std::string usage);

  [[nodiscard]] bool at_end();        ///< nothing but white space is left
  [[nodiscard]] bool accept(char c);  ///< takes `c` if it is next
  void expect(char c);                ///< takes `c`; throws Error(usage) if it is not next
  /// Takes letters, digits and underscores. If there are none, throws Error(usage) saying that
  /// `what` was expected.
  [[nodiscard]] std::string_view word(std::string_view what);

  [[nodiscard]] std::size_t position() const { return at_; }
  [[nodiscard]] std::string_view rest() const { return text_.substr(at_); }
  void skip_to(std::size_t position) { at_ = position; }

  /// Throws UnreadableConfig: "cannot read the configuration '...': <what> at position 7 ('...')"
  [[noreturn]] void fail(const std::string& what) const;

 private:
  void skip_space();

  std::string_view text_;
  std::string usage_;
  std::size_t at_ = 0;
};

/// `text` for a message: visible_text() of its first `most_shown` bytes.
[[nodiscard]] std::string printable(std::string_view text, std::size_t most_shown = 100);

}  // namespace fatune
