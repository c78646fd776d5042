#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

// Plots as plain data. `svg.hpp` and `character_plot.hpp` draw them.
namespace fatune {

enum class AxisScale { linear, log2, log10, category };

struct Axis {
  std::string title;  ///< with the unit; empty: none
  AxisScale scale = AxisScale::linear;
  std::vector<std::string> categories{};  ///< category: the names of the positions 0, 1, ...
  std::optional<double> least{};          ///< absent: the least that is drawn
  std::optional<double> greatest{};
};

/// Where a value stands on a scale from good to bad, 0 to 1: marks are coloured by it.
using Shade = double;

struct PlotPoint {
  double x = 0.0;
  double y = 0.0;
  std::optional<double> low{};  ///< ends of an interval along x where y is a category, else along y
  std::optional<double> high{};
  std::string label{};                ///< what a reader is told who points at it
  std::optional<std::int64_t> row{};  ///< `data-row` of the table row that it stands for
  std::optional<Shade> shade{};       ///< absent: the series' colour
};

enum class SeriesShape {
  points,  ///< with intervals where points have them
  line,    ///< from point to point, each marked
  steps,   ///< a value holds until the next one; no marks
  rule,    ///< what others are compared with: a thin dashed line, no marks
};

struct PlotSeries {
  std::string name;  ///< in the legend; empty: not there
  SeriesShape shape = SeriesShape::points;
  std::size_t style = 0;  ///< colour and mark, from a fixed sequence that goes round
  std::vector<PlotPoint> points{};
};

/// A distribution: least, quartiles and greatest, at a position of the axis of categories.
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
  double value = 0.0;   ///< that the cell is coloured by
  std::string text{};   ///< in the cell: short
  std::string label{};  ///< what a reader is told who points at it
};

/// Cells over two axes of categories. Cells that are not listed stay empty.
struct HeatMap {
  Axis x;
  Axis y;
  std::string value_title;  ///< of the colours' legend, with the unit
  /// Colours go to two sides from this value; absent: from the least to the greatest.
  std::optional<double> middle{};
  std::vector<HeatCell> cells{};
};

/// Axes beside each other; a line is one configuration.
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
  std::string summary;  ///< what is to be seen, in a sentence: for those who cannot see it
  std::variant<XyPlot, HeatMap, ParallelPlot> drawing;
};

}  // namespace fatune
