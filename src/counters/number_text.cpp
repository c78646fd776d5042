#include "counters/number_text.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <string>

#include "core/is_among.hpp"
#include "core/text_parts.hpp"

namespace fatune {
namespace {

constexpr std::string_view kDigits = "0123456789";

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

/// Whether commas are exactly where they group the digits before `end` by three.
bool is_grouped(std::string_view text, std::size_t end) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if ((text[i] == ',') != (i < end && (end - i) % 4 == 0)) {
      return false;
    }
  }
  return !text.starts_with("0,");
}

}  // namespace

std::optional<double> read_number(std::string_view text) {
  const bool negative = text.starts_with('-');
  text.remove_prefix(negative || text.starts_with('+') ? 1 : 0);
  const std::size_t end = std::min(text.find_first_of(".eE"), text.size());
  if (text.find_first_of(kDigits) != 0 || (text.find(',') != text.npos && !is_grouped(text, end))) {
    return std::nullopt;
  }
  std::string plain(text);
  std::erase(plain, ',');
  const auto value = whole_number<double>(plain);
  if (!value || !std::isfinite(*value)) {
    return std::nullopt;
  }
  return negative ? -*value : *value;
}

bool is_of_other_locale(std::string_view text) {
  constexpr std::array<std::string_view, 6> kGroupers{".", " ", "\u00a0", "\u202f", "'", "\u2019"};
  text.remove_prefix(text.starts_with('-') ? 1 : 0);
  const std::size_t first = std::min(text.find_first_not_of(kDigits), text.size());
  const std::size_t second = std::min(text.find_first_of(kDigits, first), text.size());
  const std::string_view rest = text.substr(second);
  const std::size_t length = std::min(rest.find_first_not_of(kDigits), rest.size());
  if (first == 0 || length == 0 || std::ranges::any_of(text, is_letter)) {
    return false;
  }
  const std::string_view separator = text.substr(first, second - first);
  return separator == ","
             ? length == rest.size() && !read_number(text)
             : first <= 3 && length == 3 && text.front() != '0' && is_among(separator, kGroupers);
}

}  // namespace fatune
