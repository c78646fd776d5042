#pragma once

#include <charconv>
#include <concepts>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

// Taking texts apart: words, parts, numbers; and putting them together.
namespace fatune {

inline constexpr std::string_view kBlanks = " \t\r";

/// Without blanks at both ends.
[[nodiscard]] std::string_view trim(std::string_view text);

/// Takes what stands before `separator` off the front of `text`, and the separator.
std::string_view take_until(std::string_view& text, char separator);

/// The text between the first `open` and the next `close` after it; empty without them.
[[nodiscard]] std::string_view between(std::string_view text, std::string_view open,
                                       std::string_view close);

/// "R4, [R2+0x10], c[0x0][0x160]" at its commas that are in no bracket; empty parts are left out.
[[nodiscard]] std::vector<std::string> split_operands(std::string_view text);

/// "a, b": what `text_of` says of each item.
template <typename Items, typename TextOf = std::identity>
[[nodiscard]] std::string joined(const Items& items, std::string_view separator,
                                 TextOf text_of = {}) {
  std::string text;
  std::string_view between;
  for (const auto& item : items) {
    text.append(between).append(std::invoke(text_of, item));
    between = separator;
  }
  return text;
}

/// Nothing unless all of the text is a number in range. An integer may be in another base.
template <typename Number, std::same_as<int>... Base>
[[nodiscard]] std::optional<Number> whole_number(std::string_view text, Base... base) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base...);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole ? std::optional(value) : std::nullopt;
}

}  // namespace fatune
