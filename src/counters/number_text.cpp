#include "counters/number_text.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "core/error.hpp"
#include "core/text_parts.hpp"

namespace fatune {
namespace {

constexpr std::array<std::string_view, 5> kGroupers{" ", "\u00a0", "\u202f", "'", "\u2019"};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Whether it is written as a number: a digit, and nothing but digits, separators and an exponent.
bool looks_like_number(std::string_view text) {
  constexpr std::string_view kLetters = "0123456789.,+-eE '";
  const std::size_t sign = text.starts_with('-') || text.starts_with('+') ? 1 : 0;
  if (text.size() <= sign || !is_digit(text[sign])) {
    return false;
  }
  return std::ranges::all_of(text, [&](char c) {
    return kLetters.find(c) != std::string_view::npos || static_cast<unsigned char>(c) >= 0x80;
  });
}

/// The length of the group separator at the start of `text`; 0: there is none.
std::size_t grouper_length(std::string_view text, NumberStyle style) {
  if (text.starts_with(style.decimal == '.' ? ',' : '.')) {
    return 1;
  }
  for (const std::string_view grouper : kGroupers) {
    if (text.starts_with(grouper)) {
      return grouper.size();
    }
  }
  return 0;
}

std::size_t count_digits(std::string_view text) {
  return std::min(static_cast<std::size_t>(std::ranges::find_if_not(text, is_digit) - text.begin()),
                  text.size());
}

/// Reads digits that are ungrouped or in groups of three. Returns nothing if the groups are wrong.
std::optional<std::string> read_whole(std::string_view& text, NumberStyle style) {
  std::size_t length = count_digits(text);
  std::string digits(text.substr(0, length));
  text.remove_prefix(length);
  const bool may_group = length >= 1 && length <= 3 && digits != "0";
  std::string_view used;
  for (std::size_t skip = grouper_length(text, style); skip > 0;
       skip = grouper_length(text, style)) {
    const std::string_view grouper = text.substr(0, skip);
    length = count_digits(text.substr(skip));
    if (!may_group || length != 3 || (!used.empty() && used != grouper)) {
      return std::nullopt;
    }
    used = grouper;
    digits += text.substr(skip, length);
    text.remove_prefix(skip + length);
  }
  return digits;
}

std::optional<double> parse_plain(const std::string& text) {
  const auto value = whole_number<double>(text);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

/// The results of reading all texts in one style.
struct Readings {
  bool possible = true;
  std::string_view unreadable;  ///< a text that the style does not read
  std::string_view fraction;    ///< one with three decimals, which the other style reads as grouped

  void add(std::optional<double> mine, std::optional<double> other, std::string_view text) {
    possible = possible && mine;
    unreadable = mine ? unreadable : text;
    fraction = mine && other && std::abs(*mine) < std::abs(*other) ? text : fraction;
  }
};

}  // namespace

std::optional<double> read_number(std::string_view text, NumberStyle style) {
  if (!looks_like_number(text)) {
    return std::nullopt;
  }
  std::string plain;
  if (text.front() == '-' || text.front() == '+') {
    plain = text.front() == '-' ? "-" : "";
    text.remove_prefix(1);
  }
  const std::optional<std::string> whole = read_whole(text, style);
  if (!whole) {
    return std::nullopt;
  }
  plain += *whole;
  if (text.starts_with(style.decimal)) {
    const std::size_t length = count_digits(text.substr(1));
    plain += fmt::format(".{}", text.substr(1, length));
    text.remove_prefix(length + 1);
  }
  return parse_plain(plain + std::string(text));
}

NumberStyle find_number_style(std::span<const std::string_view> texts, const std::string& source) {
  constexpr NumberStyle kPoint{'.'};
  constexpr NumberStyle kComma{','};
  Readings point;
  Readings comma;
  for (const std::string_view text : texts) {
    const auto with_point = read_number(text, kPoint);
    const auto with_comma = read_number(text, kComma);
    if (with_point || with_comma) {
      point.add(with_point, with_comma, text);
      comma.add(with_comma, with_point, text);
    }
  }
  if (point.possible != comma.possible) {
    return point.possible ? kPoint : kComma;
  }
  if (!point.possible || (!point.fraction.empty() && !comma.fraction.empty())) {
    throw Error(ExitCode::bad_file,
                fmt::format("cannot tell how numbers are written: '{}'",
                            point.possible ? point.fraction : point.unreadable),
                source, "run the profiler with LC_ALL=C");
  }
  return point.fraction.empty() ? kPoint : kComma;
}

}  // namespace fatune
