#include "print/plot/scale.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <span>

#include <fmt/format.h>

#include "base/ranges.hpp"
#include "base/text_parts.hpp"
#include "print/plot/svg_frame.hpp"

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
  const auto drawn = filtered(values, [&](double value) { return drawable(value, scale); });
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

std::vector<Tick> category_ticks(const Axis& axis) {
  std::vector<Tick> ticks;
  for (const std::string& name : axis.categories) {
    ticks.push_back({static_cast<double>(ticks.size()), name});
  }
  return ticks;
}

constexpr Colour colour_of(std::uint32_t hex) {
  return {static_cast<std::uint8_t>(hex >> 16U), static_cast<std::uint8_t>(hex >> 8U & 0xFFU),
          static_cast<std::uint8_t>(hex & 0xFFU)};
}

double linear_light(std::uint8_t channel) {
  const double part = channel / 255.0;
  return part <= 0.04045 ? part / 12.92 : std::pow((part + 0.055) / 1.055, 2.4);
}

double luminance(const Colour& colour) {
  return 0.2126 * linear_light(colour.red) + 0.7152 * linear_light(colour.green) +
         0.0722 * linear_light(colour.blue);
}

std::uint8_t between(std::uint8_t from, std::uint8_t to, double part) {
  return static_cast<std::uint8_t>(std::lround(from + (to - from) * part));
}

/// The colour at `part` (0 to 1) of the way along `anchors`, which are evenly spaced.
Colour along(std::span<const Colour> anchors, double part) {
  const double place = part * static_cast<double>(anchors.size() - 1);
  const auto first = std::min(static_cast<std::size_t>(place), anchors.size() - 2);
  const double rest = place - static_cast<double>(first);
  const Colour& from = anchors[first];
  const Colour& to = anchors[first + 1];
  return {between(from.red, to.red, rest), between(from.green, to.green, rest),
          between(from.blue, to.blue, rest)};
}

template <std::size_t Count, std::size_t Anchors>
std::array<Colour, Count> ramp(const std::array<std::uint32_t, Anchors>& hexes) {
  std::array<Colour, Anchors> anchors;
  std::ranges::transform(hexes, anchors.begin(), colour_of);
  std::array<Colour, Count> colours;
  for (std::size_t i = 0; i < Count; ++i) {
    colours.at(i) = along(anchors, static_cast<double>(i) / static_cast<double>(Count - 1));
  }
  return colours;
}

std::array<Colour, kSeriesStyles> series_of(const std::array<std::uint32_t, kSeriesStyles>& hexes) {
  std::array<Colour, kSeriesStyles> colours;
  std::ranges::transform(hexes, colours.begin(), colour_of);
  return colours;
}

template <typename Colours>
std::string numbered_properties(std::string_view name, const Colours& colours) {
  return joined(indices_of(colours), "", [&](std::size_t i) {
    return fmt::format("--plot-{}{}:{};", name, i, css_colour(colours[i]));
  });
}

/// The custom properties that all other rules use.
std::string scheme_rule(const ColourScheme& scheme) {
  return fmt::format(
      ".plot{{--plot-ground:{};--plot-text:{};--plot-faint:{};--plot-axis:{};--plot-grid:{};{}{}}}"
      "\n",
      css_colour(scheme.ground), css_colour(scheme.text), css_colour(scheme.faint_text),
      css_colour(scheme.axis), css_colour(scheme.grid), numbered_properties("s", scheme.series),
      numbered_properties("k", scheme.shades));
}

std::string class_rules() {
  std::string rules;
  for (const auto& [letter, count] : {std::pair{'s', kSeriesStyles}, std::pair{'k', kShades}}) {
    for (std::size_t i = 0; i < count; ++i) {
      rules += fmt::format(".plot .{0}{1}{{--c:var(--plot-{0}{1})}}\n", letter, i);
    }
  }
  return rules;
}

/// Cells have the same colours in every scheme. Their text is black or white.
std::string cell_rules(char letter, const std::array<Colour, kHeatColours>& colours) {
  return joined(indices_of(colours), "", [&](std::size_t i) {
    return fmt::format(".plot .{0}{1}{{fill:{2}}}.plot .{0}{1}+.value{{fill:{3}}}\n", letter, i,
                       css_colour(colours.at(i)), css_colour(text_colour_on(colours.at(i))));
  });
}

/// Dashes help to tell series apart.
std::string dash_rules() {
  constexpr std::array<std::string_view, kSeriesStyles> kDashes{
      "none", "7 3", "2 3", "8 3 2 3", "12 4", "4 2", "1 4", "8 2 2 2 2 2"};
  std::string rules;
  for (std::size_t i = 1; i < kDashes.size(); ++i) {
    rules += fmt::format(".plot .s{} .join{{stroke-dasharray:{}}}\n", i, kDashes.at(i));
  }
  return rules;
}

std::string text_rules() {
  return fmt::format(
      ".plot text{{fill:var(--plot-text);font-size:{tick}px}}\n"
      ".plot text.title{{font-size:{title}px;font-weight:600}}\n"
      ".plot text.axis-title,.plot text.legend,.plot text.note{{font-size:{text}px}}\n"
      ".plot text.tick,.plot text.axis-title,.plot text.note{{fill:var(--plot-faint)}}\n"
      ".plot text.tick{{font-variant-numeric:tabular-nums}}\n"
      ".plot text.halo{{fill:var(--plot-text);stroke:var(--plot-ground);stroke-width:3px;"
      "stroke-linejoin:round;paint-order:stroke}}\n"
      ".plot .value{{pointer-events:none}}\n",
      fmt::arg("tick", kTickSize), fmt::arg("title", kTitleSize), fmt::arg("text", kTextSize));
}

constexpr std::string_view kShapeRules =
    ".plot{background:var(--plot-ground);font-family:system-ui,-apple-system,\"Segoe UI\","
    "\"DejaVu Sans\",sans-serif}\n"
    ".plot .grid{stroke:var(--plot-grid);fill:none}\n"
    ".plot .axis-line{stroke:var(--plot-axis);fill:none}\n"
    ".plot .mark{fill:var(--c);stroke:var(--plot-ground);stroke-width:.6px}\n"
    ".plot .swatch{fill:var(--c);shape-rendering:crispEdges}\n"
    ".plot .dense .mark{fill-opacity:.35;stroke:var(--c);stroke-width:1px}\n"
    ".plot .range{stroke:var(--c);stroke-width:1.5px;fill:none}\n"
    ".plot .join{stroke:var(--c);stroke-width:2px;fill:none;stroke-linejoin:round}\n"
    ".plot .rule{stroke:var(--c);stroke-width:1.5px;stroke-dasharray:5 4;fill:none}\n"
    ".plot .box{--c:var(--plot-s0)}\n"
    ".plot .box rect{fill:var(--plot-ground);stroke:var(--c);stroke-width:1.5px}\n"
    ".plot .box .median{stroke:var(--c);stroke-width:3px}\n"
    ".plot .cell{stroke:var(--plot-ground)}\n"
    ".plot .line{stroke:var(--c);fill:none;stroke-linejoin:round}\n"
    ".plot .line.k0{stroke-width:1.8px}\n";

std::string made_style() {
  return scheme_rule(light_colours()) + "@media (prefers-color-scheme:dark){\n" +
         scheme_rule(dark_colours()) + "}\n@media print{\n" + scheme_rule(light_colours()) + "}\n" +
         std::string(kShapeRules) + class_rules() + dash_rules() + text_rules() +
         cell_rules('h', heat_colours()) + cell_rules('d', two_sided_colours());
}

}  // namespace

std::string css_colour(const Colour& colour) {
  return fmt::format("#{:02x}{:02x}{:02x}", colour.red, colour.green, colour.blue);
}

double contrast(const Colour& one, const Colour& other) {
  constexpr double kGlare = 0.05;
  const auto [darker, lighter] = std::minmax({luminance(one), luminance(other)});
  return (lighter + kGlare) / (darker + kGlare);
}

const ColourScheme& light_colours() {
  static const ColourScheme colours{
      colour_of(0xFFFFFF),
      colour_of(0x1F2328),
      colour_of(0x59636E),
      colour_of(0x818B98),
      colour_of(0xE3E7EB),
      series_of({0x0072B2, 0xD55E00, 0x008A64, 0xB0578D, 0xA87200, 0x2B87BD, 0x4A4F55, 0x857B00}),
      ramp<kShades>(std::array<std::uint32_t, 4>{0x00306F, 0x4C6088, 0x7F8083, 0xA48C5C}),
  };
  return colours;
}

const ColourScheme& dark_colours() {
  static const ColourScheme colours{
      colour_of(0x0D1117),
      colour_of(0xE6EDF3),
      colour_of(0x9AA3AD),
      colour_of(0x6B7480),
      colour_of(0x262D36),
      series_of({0x4FA8E0, 0xF07F35, 0x2CC197, 0xE09AC5, 0xE6A91E, 0x86CDF5, 0xC3C9D0, 0xE8DC4A}),
      ramp<kShades>(std::array<std::uint32_t, 4>{0xFFE75C, 0xBFB071, 0x85888F, 0x51709E}),
  };
  return colours;
}

const std::array<Colour, kHeatColours>& heat_colours() {
  static const auto colours = ramp<kHeatColours>(
      std::array<std::uint32_t, 5>{0x00224E, 0x3F4A6B, 0x7C7B78, 0xB9AB6F, 0xFEE838});
  return colours;
}

const std::array<Colour, kHeatColours>& two_sided_colours() {
  static const auto colours = ramp<kHeatColours>(
      std::array<std::uint32_t, 5>{0x1B5A9C, 0x86B2DC, 0xF4F2EE, 0xF2AF6B, 0xB85200});
  return colours;
}

Colour text_colour_on(const Colour& ground) {
  constexpr Colour kBlack{};
  constexpr Colour kWhite{0xFF, 0xFF, 0xFF};
  return contrast(ground, kBlack) > contrast(ground, kWhite) ? kBlack : kWhite;
}

std::size_t colour_number(double part, std::size_t count) {
  const double place = part * static_cast<double>(count);
  return place < static_cast<double>(count) ? static_cast<std::size_t>(std::max(place, 0.0))
                                            : count - 1;
}

HeatScale::HeatScale(const std::vector<double>& values, const std::optional<double>& middle) {
  const auto [least, greatest] =
      values.empty() ? std::ranges::minmax_result<double>{} : std::ranges::minmax(values);
  least_ = least;
  greatest_ = greatest;
  if (middle) {
    const double furthest = std::max(std::abs(greatest - *middle), std::abs(least - *middle));
    least_ = *middle - furthest;
    greatest_ = *middle + furthest;
  }
}

const std::string& plot_style() {
  static const std::string style = made_style();
  return style;
}

std::vector<HeatCell> drawable_cells(const HeatMap& plot) {
  constexpr double kMostValue = 1e100;  // differences and sums of such values are finite
  return filtered(plot.cells, [&](const HeatCell& cell) {
    return cell.column < plot.x.categories.size() && cell.row < plot.y.categories.size() &&
           std::abs(cell.value) <= kMostValue;
  });
}

std::string heat_text(const HeatCell& cell, const std::optional<double>& middle) {
  if (!cell.text.empty() || !middle || cell.value == *middle) {
    return cell.text;
  }
  return cell.value > *middle ? "+" : "−";
}

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
    ticks_ = category_ticks(axis);
    range_ = {-0.5, static_cast<double>(std::max<std::size_t>(ticks_.size(), 1)) - 0.5};
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

}  // namespace fatune
