#include "plot/ticks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace fatune {
namespace {

constexpr double kRounding = 1e-9;  // tolerance for rounding errors, as a fraction of a step

double count_of(const TickWishes& wishes) {
  return static_cast<double>(std::max<std::size_t>(wishes.most, 1));
}

/// Formats `value` with a letter for millions, billions, ... from `kFirstLetter` on: "2.5M".
std::string short_number(double value, int decimals) {
  constexpr double kFirstLetter = 1e6;
  constexpr std::string_view kLetters = "MGT";
  double size = std::abs(value);
  if (size < kFirstLetter) {
    return fmt::format("{:.{}f}", value, decimals);
  }
  std::size_t letter = 0;
  for (size /= kFirstLetter; size >= 1e3 && letter < kLetters.size(); ++letter) {
    size /= 1e3;
  }
  return letter < kLetters.size()
             ? fmt::format("{:.4g}{}", std::copysign(size, value), kLetters[letter])
             : fmt::format("{:.3g}", value);
}

std::string linear_label(double value, double step) {
  constexpr int kMostDecimals = 6;
  const int decimals = std::max(0, -static_cast<int>(std::floor(std::log10(step) + kRounding)));
  const double shown = std::abs(value) < step * kRounding ? 0.0 : value;
  return decimals > kMostDecimals ? fmt::format("{:.3g}", shown) : short_number(shown, decimals);
}

std::vector<Tick> linear_ticks(const AxisRange& range, const TickWishes& wishes) {
  const double step = nice_step(range, wishes);
  const double first = std::ceil(range.least / step - kRounding);
  const double last = std::floor(range.greatest / step + kRounding);
  std::vector<Tick> ticks;
  for (double n = first; n <= last && ticks.size() <= wishes.most; n += 1.0) {
    ticks.push_back({n * step, linear_label(n * step, step)});
  }
  return ticks;
}

std::string power_label(double base, double exponent) {
  constexpr double kMostDigits = 6.0;
  if (std::abs(exponent) * std::log10(base) > kMostDigits + 0.5) {
    return fmt::format("{}^{}", base, exponent);
  }
  const double power = std::pow(base, std::abs(exponent));
  return exponent < 0.0 ? fmt::format("1/{}", power) : fmt::format("{:.0f}", power);
}

/// Ticks at every power of `base`, or at every second, third, ... if there are too many.
std::vector<Tick> power_ticks(const AxisRange& range, double base, const TickWishes& wishes) {
  const double first = std::ceil(std::log2(range.least) / std::log2(base) - kRounding);
  const double last = std::floor(std::log2(range.greatest) / std::log2(base) + kRounding);
  const double stride = std::max(1.0, std::ceil((last - first + 1.0) / count_of(wishes)));
  std::vector<Tick> ticks;
  for (double exponent = first; exponent <= last; exponent += stride) {
    ticks.push_back({std::pow(base, exponent), power_label(base, exponent)});
  }
  return ticks;
}

}  // namespace

double nice_step(const AxisRange& range, const TickWishes& wishes) {
  const double part = (range.greatest - range.least) / count_of(wishes);
  const double least = wishes.whole ? std::max(part, 1.0) : part;
  const double power = std::pow(10.0, std::floor(std::log10(least)));
  for (const double times : {1.0, 2.0, 5.0}) {
    if (times * power >= least * (1.0 - kRounding)) {
      return times * power;
    }
  }
  return 10.0 * power;
}

std::vector<Tick> ticks_within(const AxisRange& range, AxisScale scale, const TickWishes& wishes) {
  constexpr std::size_t kEnough = 2;
  if (scale == AxisScale::log2 || scale == AxisScale::log10) {
    std::vector<Tick> ticks = power_ticks(range, scale == AxisScale::log2 ? 2.0 : 10.0, wishes);
    if (ticks.size() >= kEnough) {
      return ticks;
    }
  }
  return linear_ticks(range, wishes);
}

}  // namespace fatune
