#include "print/plot/scale.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include <fmt/format.h>

namespace fatune {
namespace {

void add_point(const PlotPoint& point, bool along_x, XyValues& values) {
  values.x.push_back(point.x);
  values.y.push_back(point.y);
  for (const std::optional<double>& end : {point.low, point.high}) {
    if (end) {
      (along_x ? values.x : values.y).push_back(*end);
    }
  }
}

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

bool is_log(AxisScale scale) { return scale == AxisScale::log2 || scale == AxisScale::log10; }

/// Returns false for values that would overflow when ends are subtracted or powers taken.
bool drawable(double value, AxisScale scale) {
  constexpr double kMost = 1e100;
  constexpr double kLeastOfLog = 1e-100;
  return is_log(scale) ? value >= kLeastOfLog && value <= kMost : std::abs(value) <= kMost;
}

std::optional<double> drawable(const std::optional<double>& value, AxisScale scale) {
  return value && drawable(*value, scale) ? value : std::nullopt;
}

bool are_whole(const std::vector<double>& values) {
  return std::ranges::all_of(values, [](double value) { return std::trunc(value) == value; });
}

AxisRange range_of(const std::vector<double>& values, AxisScale scale) {
  std::vector<double> drawn;
  std::ranges::copy_if(values, std::back_inserter(drawn),
                       [&](double value) { return drawable(value, scale); });
  if (drawn.empty()) {
    return is_log(scale) ? AxisRange{1.0, 2.0} : AxisRange{0.0, 1.0};
  }
  const auto [least, greatest] = std::ranges::minmax(drawn);
  return {least, greatest};
}

/// A shorter range has no representable steps between its ends.
constexpr double kLeastLength = 1e-90;

/// Whether the labels of the range's ends would differ.
bool can_be_told_apart(const AxisRange& range) {
  constexpr double kLeastPart = 1e-9;
  const double size = std::max(std::abs(range.least), std::abs(range.greatest));
  return range.greatest - range.least > std::max(size * kLeastPart, kLeastLength);
}

/// Adds room on both sides if the values are equal or nearly equal.
AxisRange with_room(AxisRange range, AxisScale scale) {
  if (can_be_told_apart(range)) {
    return range;
  }
  const double size = std::max(std::abs(range.least), std::abs(range.greatest));
  if (is_log(scale)) {
    return {range.least / 2.0, range.greatest * 2.0};
  }
  const double room = size > kLeastLength ? size * 0.1 : 1.0;
  return {range.least - room, range.greatest + room};
}

/// Extends a linear axis to whole ticks, and a log axis a little, so that marks do not lie on the
/// frame.
AxisRange rounded_outward(const AxisRange& range, AxisScale scale, const TickWishes& wishes) {
  if (is_log(scale)) {
    constexpr double kRoom = 0.03;
    const double factor = std::pow(range.greatest / range.least, kRoom);
    return {range.least / factor, range.greatest * factor};
  }
  const double step = nice_step(range, wishes);
  return {std::floor(range.least / step + kRounding) * step,
          std::ceil(range.greatest / step - kRounding) * step};
}

AxisRange ends_of(const Axis& axis, const std::vector<double>& values, bool from_zero_wished,
                  const TickWishes& wishes) {
  const std::optional<double> least = drawable(axis.least, axis.scale);
  const std::optional<double> greatest = drawable(axis.greatest, axis.scale);
  if (least && greatest && can_be_told_apart({*least, *greatest})) {
    return {*least, *greatest};
  }
  AxisRange range = range_of(values, axis.scale);
  const bool from_zero = from_zero_wished && axis.scale == AxisScale::linear;
  if (from_zero) {
    range = {std::min(range.least, 0.0), std::max(range.greatest, 0.0)};
  }
  range.least = least.value_or(range.least);
  range.greatest = std::max(greatest.value_or(range.greatest), range.least);
  const AxisRange wide = rounded_outward(with_room(range, axis.scale), axis.scale, wishes);
  const bool one_end = can_be_told_apart(range);
  return {least && one_end ? *least : wide.least, greatest && one_end ? *greatest : wide.greatest};
}

AxisRange category_ends(const Axis& axis) {
  return {-0.5, static_cast<double>(std::max<std::size_t>(axis.categories.size(), 1)) - 0.5};
}

std::vector<Tick> category_ticks(const Axis& axis) {
  std::vector<Tick> ticks;
  for (const std::string& name : axis.categories) {
    ticks.push_back({static_cast<double>(ticks.size()), name});
  }
  return ticks;
}

}  // namespace

std::vector<HeatCell> drawable_cells(const HeatMap& plot) {
  constexpr double kMostValue = 1e100;  // differences and sums of such values are finite
  std::vector<HeatCell> cells;
  std::ranges::copy_if(plot.cells, std::back_inserter(cells), [&](const HeatCell& cell) {
    return cell.column < plot.x.categories.size() && cell.row < plot.y.categories.size() &&
           std::abs(cell.value) <= kMostValue;
  });
  return cells;
}

std::string heat_text(const HeatCell& cell, const std::optional<double>& middle) {
  if (!cell.text.empty() || !middle || cell.value == *middle) {
    return cell.text;
  }
  return cell.value > *middle ? "+" : "−";
}

bool intervals_along_x(const XyPlot& plot) { return plot.y.scale == AxisScale::category; }

XyValues xy_values(const XyPlot& plot) {
  XyValues values;
  for (const PlotSeries& series : plot.series) {
    for (const PlotPoint& point : series.points) {
      add_point(point, intervals_along_x(plot), values);
    }
  }
  for (const PlotBox& box : plot.boxes) {
    values.x.insert(values.x.end(), {box.least, box.greatest});
    values.y.push_back(box.position);
  }
  return values;
}

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

Scale::Scale(const Axis& axis, const std::vector<double>& values, const ScaleWishes& wishes)
    : scale_(axis.scale) {
  if (scale_ == AxisScale::category) {
    range_ = category_ends(axis);
    ticks_ = category_ticks(axis);
    return;
  }
  const TickWishes ticks{wishes.most_ticks, are_whole(values)};
  range_ = ends_of(axis, values, wishes.from_zero, ticks);
  ticks_ = ticks_within(range_, scale_, ticks);
}

double Scale::placed(double value) const { return is_log(scale_) ? std::log2(value) : value; }

std::optional<double> Scale::part_of(double value) const {
  if (!drawable(value, scale_) || value < range_.least || value > range_.greatest) {
    return std::nullopt;
  }
  return nearest_part_of(value);
}

std::optional<double> Scale::nearest_part_of(double value) const {
  if (std::isnan(value)) {
    return std::nullopt;
  }
  const double begin = placed(range_.least);
  const double within = placed(std::clamp(value, range_.least, range_.greatest));
  return std::clamp((within - begin) / (placed(range_.greatest) - begin), 0.0, 1.0);
}

double Scale::category_part() const {
  return scale_ == AxisScale::category ? 1.0 / (range_.greatest - range_.least) : 0.0;
}

}  // namespace fatune
