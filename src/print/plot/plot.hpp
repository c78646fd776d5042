#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

// Plots as plain data, and what draws them.
namespace fatune {

enum class AxisScale { linear, log2, log10, category };

struct Axis {
  std::string title;  ///< ends with the unit; empty: none
  AxisScale scale = AxisScale::linear;
  std::vector<std::string> categories{};  ///< a category scale's names of positions 0, 1, ...
  std::optional<double> least{};          ///< absent: the least value drawn
  std::optional<double> greatest{};
};

/// The position of a value on a scale from good (0) to bad (1). It gives a line its colour.
using Shade = double;

struct PlotPoint {
  double x = 0.0;
  double y = 0.0;
  /// The ends of an interval: along x if y is an axis of categories, else along y.
  std::optional<double> low{};
  std::optional<double> high{};
  std::string label{};                ///< tooltip
  std::optional<std::int64_t> row{};  ///< `data-row` of the table row that it stands for
};

enum class SeriesShape {
  points,  ///< drawn with intervals if the points have them
  line,    ///< marked points, joined by lines
  steps,   ///< a value holds until the next one; no marks
  rule,    ///< a reference for the others: a thin dashed line, no marks
};

struct PlotSeries {
  std::string name;  ///< the legend's entry; empty: no entry
  SeriesShape shape = SeriesShape::points;
  std::size_t style = 0;  ///< index of colour and mark in a fixed sequence that repeats
  std::vector<PlotPoint> points{};
};

/// A distribution (minimum, quartiles, maximum) at a position on the axis of categories.
struct PlotBox {
  double position = 0.0;
  double least = 0.0;
  double low_quartile = 0.0;
  double median = 0.0;
  double high_quartile = 0.0;
  double greatest = 0.0;
  std::string label{};
};

/// Marks over two axes. Boxes lie along x; their positions are on y, an axis of categories.
struct XyPlot {
  Axis x;
  Axis y;
  std::vector<PlotSeries> series{};
  std::vector<PlotBox> boxes{};
};

struct HeatCell {
  std::size_t column = 0;
  std::size_t row = 0;
  double value = 0.0;   ///< gives the cell its colour
  std::string text{};   ///< short text in the cell
  std::string label{};  ///< tooltip
};

/// Cells over two axes of categories. Cells that are not listed stay empty.
struct HeatMap {
  Axis x;
  Axis y;
  std::string value_title;  ///< title of the colour legend, with the unit
  /// The value from which colours go to two sides. Absent: they go from the least to the greatest.
  std::optional<double> middle{};
  std::vector<HeatCell> cells{};
};

/// Parallel axes. Each line is one configuration.
struct ParallelPlot {
  struct Line {
    std::vector<std::optional<double>> values;  ///< one for each axis; absent: not known
    std::int64_t row = 0;                       ///< `data-row` of its table row
    Shade shade = 0.0;
    std::string label{};
  };
  std::vector<Axis> axes;
  std::vector<Line> lines{};
};

struct Plot {
  std::string id;       ///< a name for files and links: letters, digits and hyphens
  std::string title;    ///< one line
  std::string summary;  ///< describes the plot in one sentence, for screen readers
  std::variant<XyPlot, HeatMap, ParallelPlot> drawing;
};

/// A file carries its own style and title. A page has plot_style(), and for narrow screens a
/// drawing of its own, in which letters are as large as in the wide one.
enum class SvgPlace { file, page, narrow_page };

/// Draws the plot as an SVG element, 720 units wide (on a narrow page 344) unless it needs more,
/// with role="img", title and desc. Nothing in it is fetched or executed. Text of any bytes is
/// safe: markup is escaped, characters that XML forbids and bidirectional controls are shown as
/// U+FFFD, and long text is cut in the middle. Values that are not finite, or not positive on a log
/// axis, are left out. Marks have `data-row`.
[[nodiscard]] std::string svg(const Plot& plot, SvgPlace place);

/// Whether the plot is worth a drawing for narrow screens. Parallel axes are not: they need the
/// width.
[[nodiscard]] bool has_narrow_svg(const Plot& plot);

/// Draws the plot with braille and box characters (UTF-8), at most `columns` wide, with axes, ticks
/// and legend. It is readable without colour. Lines end with a line break. Bytes that a terminal
/// would interpret as controls are shown as U+FFFD. Boxes, steps, parallel axes and intervals along
/// y are in SVG only; boxes and parallel axes are drawn as a note that says so. `columns`: 0 means
/// 100; values below 40 mean 40.
[[nodiscard]] std::string character_plot(const Plot& plot, std::size_t columns);

/// CSS of the classes that svg() uses, for light, dark (prefers-color-scheme) and print.
[[nodiscard]] const std::string& plot_style();

}  // namespace fatune
