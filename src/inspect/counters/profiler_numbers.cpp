#include "inspect/counters/profiler_numbers.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <initializer_list>
#include <span>
#include <string>

#include "base/ranges.hpp"
#include "base/text_parts.hpp"

namespace fatune {
namespace {

constexpr std::string_view kDigits = "0123456789";

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

/// Whether commas are exactly where they group the digits before `end` by three.
bool is_grouped(std::string_view text, std::size_t end) {
  const bool grouped = std::ranges::all_of(indices_of(text), [&](std::size_t i) {
    return (text[i] == ',') == (i < end && (end - i) % 4 == 0);
  });
  return grouped && !text.starts_with("0,");
}

struct Scale {
  std::string_view prefix;
  double factor;
};

constexpr std::array<Scale, 6> kMultiples{
    {{"", 1.0}, {"K", 1e3}, {"M", 1e6}, {"G", 1e9}, {"T", 1e12}, {"P", 1e15}}};
constexpr std::array<Scale, 4> kFractionsOfSeconds{
    {{"", 1.0}, {"m", 1e-3}, {"u", 1e-6}, {"n", 1e-9}}};

/// The factor of a unit that is one of `names` after a prefix; nothing if it is not.
std::optional<double> scale_of(std::string_view unit, std::span<const Scale> scales,
                               std::initializer_list<const char*> names) {
  for (const Scale& scale : scales) {
    for (const char* const name : names) {
      if (unit == std::string(scale.prefix) + name) {
        return scale.factor;
      }
    }
  }
  return std::nullopt;
}

/// The unit in seconds; nothing if it is not a unit of time.
std::optional<double> seconds(std::string_view unit) {
  return scale_of(unit, kFractionsOfSeconds, {"s", "sec", "second"});
}

/// The factor of a unit of bytes or hertz; other units are not scaled.
double amount(std::string_view unit) {
  return scale_of(unit, kMultiples, {"byte", "hz"}).value_or(1.0);
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

double base_unit_factor(std::string_view unit) {
  constexpr double kNsPerSecond = 1e9;
  const std::size_t slash = unit.find('/');
  if (slash == std::string_view::npos) {
    const auto time = seconds(unit);
    return time ? *time * kNsPerSecond : amount(unit);
  }
  const std::string_view per = unit.substr(slash + 1);
  return amount(unit.substr(0, slash)) / seconds(per).value_or(amount(per));
}

}  // namespace fatune
