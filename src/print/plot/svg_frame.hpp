#pragma once

#include <string_view>

#include "print/plot/plot.hpp"
#include "print/plot/scale.hpp"

// Numbers and texts within an SVG: pure functions.
namespace fatune {

inline constexpr std::size_t kMostOfTitle = 400;  ///< longest tooltip, in code points

/// Font sizes in the SVG's units, as plot_style() has them.
inline constexpr double kTitleSize = 15.0;
inline constexpr double kTextSize = 12.0;
inline constexpr double kTickSize = 11.0;

/// Formats with at most one decimal: 12.3, 12, 0. Precondition: `value` is finite.
[[nodiscard]] std::string svg_number(double value);

/// Estimates the width of a text: 0.6 of the font size for a narrow character, all of it for a wide
/// one.
[[nodiscard]] double text_width(std::string_view text, double font_size);

enum class TextEnd { start, middle, end };  ///< the part of the text that is at (x, y)

struct SvgText {
  double x = 0.0;
  double y = 0.0;  ///< baseline
  std::string_view css_class{};
  TextEnd anchor = TextEnd::start;
  double font_size = kTickSize;
  double room = 0.0;        ///< wider text is cut in the middle; its <title> has all of it
  std::string transform{};  ///< attribute; empty: none
};

/// The <text> element; nothing for an empty text.
[[nodiscard]] std::string text_element(const SvgText& place, std::string_view text);

/// The <title> element, which is a tooltip for the element around it. Empty for an empty text. Very
/// long text is cut.
[[nodiscard]] std::string title_element(std::string_view text);

// The SVG elements of series.

/// A place in the SVG's units.
struct SvgPoint {
  double x = 0.0;
  double y = 0.0;
};

/// For example " data-row="17"". Empty without a row.
[[nodiscard]] std::string row_attribute(const std::optional<std::int64_t>& row);

/// The mark of the series' style, centred at `place`.
[[nodiscard]] std::string mark_element(std::size_t style, const SvgPoint& place,
                                       const PlotPoint& point);

/// The sample of a series for a legend: x from 0 to 24, y centred on 0.
[[nodiscard]] std::string series_sample(const PlotSeries& series);

// Parts that SVG drawings share: areas, axes, legends.

inline constexpr double kSvgWidth = 720.0;
inline constexpr double kNarrowSvgWidth = 344.0;  ///< what a screen of 400 pixels has room for
inline constexpr double kLabelGap = 6.0;          ///< between labels and what they label
inline constexpr double kTitleRow = 18.0;         ///< height of an axis title
inline constexpr double kLetterHeight = 8.0;
inline constexpr double kHalfLetter = kLetterHeight / 2.0;

/// A part of the SVG, in its units; y goes down.
struct Area {
  double left = 0.0;
  double top = 0.0;
  double right = 0.0;
  double bottom = 0.0;
  [[nodiscard]] double width() const { return right - left; }
  [[nodiscard]] double height() const { return bottom - top; }
};

/// The elements and extents of one drawing.
struct SvgDrawing {
  double width = kSvgWidth;
  double bottom = 0.0;  ///< y of its lower end
  std::string elements;
  bool empty = false;  ///< nothing could be drawn
};

[[nodiscard]] inline double x_at(const Area& area, double part) {
  return area.left + part * area.width();
}
/// Numbers go up from the bottom, categories down from the top.
[[nodiscard]] inline double y_at(const Area& area, double part, AxisScale scale) {
  return scale == AxisScale::category ? area.top + part * area.height()
                                      : area.bottom - part * area.height();
}

/// The width of the labels on the left of a plot of this width. Categories get at most 45 % of it.
[[nodiscard]] double left_labels_width(const std::vector<Tick>& ticks, AxisScale scale,
                                       double width);
/// Whether labels on the left would be cut.
[[nodiscard]] bool cuts_left_labels(const std::vector<Tick>& ticks, double width);

/// Lines at the ticks, across the area.
[[nodiscard]] std::string grid(const Area& area, const Scale* x, const Scale* y, AxisScale y_scale);
[[nodiscard]] std::string left_labels(const Area& area, const std::vector<Tick>& ticks,
                                      const Scale& scale, AxisScale kind);
/// Draws the labels of categories above their rows, from the plot's left edge.
[[nodiscard]] std::string labels_above(const Area& area, const std::vector<Tick>& ticks,
                                       const Scale& scale);

/// Draws labels below the area, slanted if they do not fit side by side. Sets `bottom` to their
/// lower end.
[[nodiscard]] std::string bottom_labels(const Area& area, const Scale& scale, AxisScale kind,
                                        double& bottom);

[[nodiscard]] std::string axis_title(double x, double y, double room, const std::string& title);
/// An axis title: centred below the area or, if it is wider, right-aligned with it.
[[nodiscard]] std::string title_below(const std::string& title, const Area& area, double y);

[[nodiscard]] std::string legend_text(double x, double y, double room, const std::string& text);

struct LegendEntry {
  std::string name;
  std::string sample;  ///< elements within 24 by 12 units: x from 0, y centred on 0
  double sample_width = 24.0;
  double name_room = 320.0;
};

/// Draws the entries side by side in as many rows of this width as they need, from `top`. Moves
/// `top` below them.
[[nodiscard]] std::string legend(const std::vector<LegendEntry>& entries, double width,
                                 double& top);

/// Adjacent rectangles of the colours `css_class`0, 1, ..., 12 units high and centred on y 0.
[[nodiscard]] std::string colour_bar(std::string_view css_class, std::size_t colours, double width);
/// The legend of colours from good to bad.
[[nodiscard]] LegendEntry shade_entry();

// One function for each kind of drawing in plot.hpp. Each drawing begins at `top`, and is `width`
// wide unless it needs more.

[[nodiscard]] SvgDrawing svg_xy(const XyPlot& plot, double top, double width);
[[nodiscard]] SvgDrawing svg_heat(const HeatMap& plot, double top, double width);
[[nodiscard]] SvgDrawing svg_parallel(const ParallelPlot& plot, double top);

}  // namespace fatune
