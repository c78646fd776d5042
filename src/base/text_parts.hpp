#pragma once

#include <charconv>
#include <concepts>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

// Functions that split texts into words, parts and numbers, and join texts.
namespace fatune {

inline constexpr std::string_view kBlanks = " \t\r";

/// True for an ASCII letter, digit or underscore.
[[nodiscard]] bool is_word_character(char c);

/// Removes blanks from both ends.
[[nodiscard]] std::string_view trim(std::string_view text);

[[nodiscard]] constexpr bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// Takes the text before `separator`, and the separator, off the front of `text`.
std::string_view take_until(std::string_view& text, char separator);

/// The parts before, between and behind the separators. They may be empty.
[[nodiscard]] std::vector<std::string_view> split_at(std::string_view text, char separator);

/// The text between the first `open` and the next `close` after it; empty if either is missing.
[[nodiscard]] std::string_view between(std::string_view text, std::string_view open,
                                       std::string_view close);

/// Splits "R4, [R2+0x10], c[0x0][0x160]" at commas outside brackets. Empty parts are left out.
[[nodiscard]] std::vector<std::string> split_operands(std::string_view text);

/// Joins what `text_of` returns for each item: "a, b".
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

/// Reads a number. Nothing unless all of the text is a number in range. Integers may have another
/// base.
template <typename Number, std::same_as<int>... Base>
[[nodiscard]] std::optional<Number> whole_number(std::string_view text, Base... base) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base...);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole ? std::optional(value) : std::nullopt;
}

/// Orders texts as people do: numbers by size, then other texts by their bytes.
struct NaturalOrder {
  bool operator()(const std::string& a, const std::string& b) const {
    const auto number_a = whole_number<double>(a);
    const auto number_b = whole_number<double>(b);
    return number_a && number_b   ? *number_a < *number_b
           : number_a || number_b ? number_a.has_value()
                                  : a < b;
  }
  template <typename Other>
  bool operator()(const std::pair<std::string, Other>& a,
                  const std::pair<std::string, Other>& b) const {
    return (*this)(a.first, b.first) || (!(*this)(b.first, a.first) && (*this)(a.second, b.second));
  }
};

}  // namespace fatune
