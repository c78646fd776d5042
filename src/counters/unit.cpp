#include "counters/unit.hpp"

#include <array>
#include <optional>
#include <string>

namespace fatune {
namespace {

struct Scale {
  std::string_view text;
  double factor;
};

constexpr std::array<Scale, 6> kMultiples{
    {{"", 1.0}, {"K", 1e3}, {"M", 1e6}, {"G", 1e9}, {"T", 1e12}, {"P", 1e15}}};
constexpr std::array<Scale, 4> kFractionsOfSeconds{
    {{"", 1.0}, {"m", 1e-3}, {"u", 1e-6}, {"n", 1e-9}}};

/// The unit in seconds; nothing if it is not a unit of time.
std::optional<double> seconds(std::string_view unit) {
  for (const Scale& scale : kFractionsOfSeconds) {
    for (const char* const name : {"s", "sec", "second"}) {
      if (unit == std::string(scale.text) + name) {
        return scale.factor;
      }
    }
  }
  return std::nullopt;
}

/// The factor of a unit of bytes or hertz; other units are not scaled.
double amount(std::string_view unit) {
  for (const Scale& scale : kMultiples) {
    for (const char* const name : {"byte", "hz"}) {
      if (unit == std::string(scale.text) + name) {
        return scale.factor;
      }
    }
  }
  return 1.0;
}

}  // namespace

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
