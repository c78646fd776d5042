#include "print/plot/plot.hpp"

#include <cmath>
#include <map>

#include <fmt/format.h>
#include "base/ranges.hpp"
#include "base/text_parts.hpp"
#include "base/visible_text.hpp"
#include "print/plot/scale.hpp"

namespace fatune {
namespace {

constexpr double kDotsAcross = 2.0;
constexpr double kDotsDown = 4.0;

/// The bit of each dot in U+2800 to U+28FF, by row and column of the dot.
constexpr std::array<std::array<std::uint8_t, 2>, 4> kDotBits{
    {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}}};

std::string braille(std::uint8_t dots) {
  return {'\xE2', static_cast<char>(0xA0U | dots >> 6U), static_cast<char>(0x80U | (dots & 0x3FU))};
}

/// A place on a canvas, in columns and rows from its upper left corner; finite.
struct CanvasPlace {
  double column = 0.0;
  double row = 0.0;
};

/// Cells that hold one character, or half of a wide one. Cells without a character show their
/// braille dots. Anything outside the canvas is ignored.
class CharacterCanvas {
 public:
  CharacterCanvas(std::size_t columns, std::size_t rows)
      : columns_(columns), rows_(rows), cells_(columns * rows) {}

  /// `character` takes one column.
  void put(std::size_t column, std::size_t row, std::string_view character) {
    if (column < columns_ && row < rows_) {
      cells_[row * columns_ + column].character = character;
    }
  }
  /// Writes the text's characters into consecutive cells of a row.
  void write(std::size_t column, std::size_t row, std::string_view text) {
    while (!text.empty()) {
      std::string_view character = first_columns(text, 1);
      if (character.empty()) {
        character = first_columns(text, 2);
      }
      put(column++, row, character);
      if (width_of(character) > 1) {
        put(column++, row, "");
      }
      text.remove_prefix(character.size());
    }
  }
  /// Sets the dot at `place`. Each cell has 2 by 4 dots.
  void dot(const CanvasPlace& place) {
    const double x = std::floor(place.column * kDotsAcross);
    const double y = std::floor(place.row * kDotsDown);
    if (x < 0.0 || y < 0.0 || x >= kDotsAcross * static_cast<double>(columns_) ||
        y >= kDotsDown * static_cast<double>(rows_)) {
      return;
    }
    const auto across = static_cast<std::size_t>(x);
    const auto down = static_cast<std::size_t>(y);
    Cell& cell = cells_[down / 4 * columns_ + across / 2];
    cell.dots = static_cast<std::uint8_t>(cell.dots | kDotBits.at(down % 4).at(across % 2));
  }
  void line(const CanvasPlace& from, const CanvasPlace& to, bool dashed = false) {
    constexpr std::size_t kDash = 3;  // length in dots
    const double length = std::max(std::abs(to.column - from.column) * kDotsAcross,
                                   std::abs(to.row - from.row) * kDotsDown);
    const auto steps = static_cast<std::size_t>(std::ceil(length));
    for (std::size_t i = 0; i <= steps; ++i) {
      const double part = steps == 0 ? 0.0 : static_cast<double>(i) / static_cast<double>(steps);
      if (!dashed || i / kDash % 2 == 0) {
        dot({from.column + (to.column - from.column) * part,
             from.row + (to.row - from.row) * part});
      }
    }
  }

  [[nodiscard]] std::size_t columns() const { return columns_; }
  [[nodiscard]] std::size_t rows() const { return rows_; }
  /// One line for each row, without trailing blanks.
  [[nodiscard]] std::string text() const {
    std::string text;
    for (std::size_t row = 0; row < rows_; ++row) {
      std::string line;
      for (std::size_t column = 0; column < columns_; ++column) {
        line += shown(cells_[row * columns_ + column]);
      }
      text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
    }
    return text;
  }

 private:
  struct Cell {
    std::optional<std::string> character;  ///< empty: the right half of a wide character
    std::uint8_t dots = 0;
  };
  [[nodiscard]] static std::string shown(const Cell& cell) {
    return cell.character.value_or(cell.dots == 0 ? " " : braille(cell.dots));
  }

  std::size_t columns_;
  std::size_t rows_;
  std::vector<Cell> cells_;
};

/// Wraps text of any bytes into lines. An empty text has no line.
std::string character_lines(std::string_view text, std::size_t columns) {
  constexpr std::size_t kMostLines = 10;
  return joined(wrapped(visible_text(text, columns * kMostLines), columns), "",
                [&](const std::string& line) { return line.empty() ? "" : line + "\n"; });
}

constexpr std::string_view kOneSeries = "●";
constexpr std::string_view kSeveral = "*";

/// The cells between the axes, and the positions of values in them.
struct CharacterFrame {
  std::size_t left = 0;  ///< the first column after the axis on the left
  std::size_t columns = 0;
  std::size_t rows = 0;
  Scale x;
  Scale y;
  AxisScale y_kind;

  [[nodiscard]] double column_at(double part) const {
    return static_cast<double>(left) + part * static_cast<double>(columns);
  }
  [[nodiscard]] double row_at(double part) const {
    return (y_kind == AxisScale::category ? part : 1.0 - part) * static_cast<double>(rows);
  }
  [[nodiscard]] std::size_t column_number(double part) const {
    return left +
           std::min(static_cast<std::size_t>(part * static_cast<double>(columns)), columns - 1);
  }
  [[nodiscard]] std::size_t row_number(double part) const {
    return std::min(static_cast<std::size_t>(row_at(part)), rows - 1);
  }
};

struct PartPlace {
  double x = 0.0;
  double y = 0.0;
};

std::optional<PartPlace> parts_of(const CharacterFrame& frame, const PlotPoint& point) {
  const std::optional<double> x = frame.x.part_of(point.x);
  const std::optional<double> y = frame.y.part_of(point.y);
  return x && y ? std::optional(PartPlace{*x, *y}) : std::nullopt;
}

/// Returns the place of a dot. It lies within the cells, also at the ends of the axes.
CanvasPlace canvas_place(const CharacterFrame& frame, const PartPlace& part) {
  constexpr double kHalfDot = 0.1;
  const auto inside = [](double value, double begin, double count) {
    return std::clamp(value, begin + kHalfDot, begin + count - kHalfDot);
  };
  return {inside(frame.column_at(part.x), static_cast<double>(frame.left),
                 static_cast<double>(frame.columns)),
          inside(frame.row_at(part.y), 0.0, static_cast<double>(frame.rows))};
}

CharacterFrame character_frame(const XyPlot& plot, std::size_t columns) {
  constexpr std::size_t kColumnsOfTick = 10;
  constexpr std::size_t kTicksUp = 5;
  const XyValues values = xy_values(plot);
  Scale x(plot.x, values.x, {.from_zero = false, .most_ticks = columns / kColumnsOfTick});
  Scale y(plot.y, values.y, {.from_zero = true, .most_ticks = kTicksUp});
  const auto widest = greatest_of<std::size_t>(
      y.ticks(), [](const Tick& tick) { return width_of(visible_text(tick.label)); });
  const std::size_t left = std::min(widest, columns * 45 / 100) + 2;
  const std::size_t rows = plot.y.scale == AxisScale::category
                               ? std::max<std::size_t>(plot.y.categories.size(), 1)
                               : std::clamp<std::size_t>(columns / 5, 12, 20);
  return {left, columns - left, rows, std::move(x), std::move(y), plot.y.scale};
}

void draw_left_axis(const CharacterFrame& frame, CharacterCanvas& canvas) {
  for (std::size_t row = 0; row < frame.rows; ++row) {
    canvas.put(frame.left - 1, row, "│");
  }
  for (const Tick& tick : frame.y.ticks()) {
    const std::size_t row = frame.row_number(frame.y.nearest_part_of(tick.value).value_or(0.0));
    const std::string label = visible_text(tick.label, frame.left - 2);
    canvas.write(frame.left - 2 - width_of(label), row, label);
    canvas.put(frame.left - 1, row, "┤");
  }
}

/// Draws each tick with its label, unless the previous label is in the way.
void draw_bottom_axis(const CharacterFrame& frame, CharacterCanvas& canvas) {
  const std::size_t row = frame.rows;
  canvas.put(frame.left - 1, row, "└");
  for (std::size_t i = 0; i < frame.columns; ++i) {
    canvas.put(frame.left + i, row, "─");
  }
  std::size_t free = 0;
  for (const Tick& tick : frame.x.ticks()) {
    const std::size_t column =
        frame.column_number(frame.x.nearest_part_of(tick.value).value_or(0.0));
    const std::string label = visible_text(tick.label, frame.columns / 2);
    const std::size_t width = width_of(label);
    const std::size_t begin =
        std::min(column - std::min(column, width / 2), canvas.columns() - width);
    if (begin >= free) {
      canvas.put(column, row, "┬");
      canvas.write(begin, row + 1, label);
      free = begin + width + 1;
    }
  }
}

/// Marks of several series in one cell become kSeveral.
class CharacterMarks {
 public:
  void add(std::size_t column, std::size_t row, std::string_view mark) {
    const auto [cell, is_new] = marks_.try_emplace({column, row}, mark);
    if (!is_new && cell->second != mark) {
      cell->second = kSeveral;
      several_ = true;
    }
  }
  void draw(CharacterCanvas& canvas) const {
    for (const auto& [place, mark] : marks_) {
      canvas.put(place.first, place.second, mark);
    }
  }
  [[nodiscard]] bool several() const { return several_; }

 private:
  std::map<std::pair<std::size_t, std::size_t>, std::string> marks_;
  bool several_ = false;
};

/// Returns kOneSeries if there are fewer than two series besides rules, else a letter for each
/// series.
std::string mark_of(const XyPlot& plot, std::size_t series) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  const auto is_rule = [](const PlotSeries& some) { return some.shape == SeriesShape::rule; };
  if (std::ranges::count_if(plot.series, std::not_fn(is_rule)) < 2) {
    return std::string(kOneSeries);
  }
  const auto before = plot.series.begin() + static_cast<std::ptrdiff_t>(series);
  const auto number =
      static_cast<std::size_t>(std::count_if(plot.series.begin(), before, std::not_fn(is_rule)));
  return std::string(1, kLetters[number % kLetters.size()]);
}

void draw_interval(const PlotPoint& point, const PartPlace& part, const CharacterFrame& frame,
                   CharacterCanvas& canvas) {
  if (frame.y_kind != AxisScale::category || !point.low || !point.high) {
    return;
  }
  const auto column = [&](double value) {
    return frame.column_number(frame.x.nearest_part_of(value).value_or(part.x));
  };
  const auto [first, last] = std::minmax({column(*point.low), column(*point.high)});
  for (std::size_t i = first; i <= last && first < last; ++i) {
    canvas.put(i, frame.row_number(part.y), i == first ? "├" : i == last ? "┤" : "─");
  }
}

/// Draws a rule with one point: a line across the whole plot.
void draw_rule(const PlotSeries& series, const CharacterFrame& frame, CharacterCanvas& canvas) {
  const std::optional<double> part = frame.y.part_of(series.points.front().y);
  if (part && frame.y_kind != AxisScale::category) {
    canvas.line(canvas_place(frame, {0.0, *part}), canvas_place(frame, {1.0, *part}), true);
  }
}

void draw_joined(const PlotSeries& series, const CharacterFrame& frame, CharacterCanvas& canvas) {
  const bool dashed = series.shape == SeriesShape::rule;
  std::optional<CanvasPlace> before;
  for (const PlotPoint& point : series.points) {
    const std::optional<PartPlace> part = parts_of(frame, point);
    const std::optional<CanvasPlace> place =
        part ? std::optional(canvas_place(frame, *part)) : std::nullopt;
    if (place) {
      canvas.line(before.value_or(*place), *place, dashed);
    }
    before = place;
  }
}

void draw_points(const PlotSeries& series, std::string_view mark, const CharacterFrame& frame,
                 CharacterCanvas& canvas, CharacterMarks& marks) {
  for (const PlotPoint& point : series.points) {
    if (const std::optional<PartPlace> part = parts_of(frame, point)) {
      draw_interval(point, *part, frame, canvas);
      marks.add(frame.column_number(part->x), frame.row_number(part->y), mark);
    }
  }
}

std::string legend_of_characters(const XyPlot& plot, bool several, std::size_t columns) {
  constexpr std::string_view kBetween = "   ";
  std::string line;
  std::string lines;
  const auto add = [&](const std::string& entry) {
    if (!line.empty() && width_of(line) + kBetween.size() + width_of(entry) > columns) {
      lines += line + "\n";
      line.clear();
    }
    line += line.empty() ? entry : std::string(kBetween) + entry;
  };
  for (std::size_t i = 0; i < plot.series.size(); ++i) {
    const PlotSeries& series = plot.series[i];
    if (!series.name.empty()) {
      const std::string sample =
          series.shape == SeriesShape::rule ? "- - " : mark_of(plot, i) + " ";
      add(sample + visible_text(series.name, columns - width_of(sample)));
    }
  }
  if (several) {
    add(std::string(kSeveral) + " several");
  }
  return lines + (line.empty() ? "" : line + "\n");
}

std::string x_title_line(const XyPlot& plot, const CharacterFrame& frame, std::size_t columns) {
  const std::string title = visible_text(plot.x.title, columns);
  const std::size_t width = width_of(title);
  const std::size_t wished = frame.left + (frame.columns > width ? (frame.columns - width) / 2 : 0);
  return title.empty() ? "" : std::string(std::min(wished, columns - width), ' ') + title + "\n";
}

constexpr std::array<std::string_view, 5> kBlocks{" ", "░", "▒", "▓", "█"};

/// The shading of a cell. With a middle, it shows the distance from it: signs tell the sides apart.
std::string_view block_of(const HeatCell& cell, const HeatMap& plot, const HeatScale& scale) {
  const double part = scale.part_of(cell.value);
  return kBlocks.at(colour_number(plot.middle ? std::abs(2.0 * part - 1.0) : part, kBlocks.size()));
}

struct HeatLayout {
  std::size_t names = 0;    ///< columns of text that row names take
  std::size_t column = 0;   ///< columns of text for a map column, with the blank before it
  std::size_t at_once = 0;  ///< columns of the map that fit side by side
};

HeatLayout layout_of(const HeatMap& plot, const std::vector<HeatCell>& cells, std::size_t columns) {
  constexpr std::size_t kMostOfCell = 12;
  const auto names = greatest_of<std::size_t>(
      plot.y.categories, [](const std::string& name) { return width_of(visible_text(name)); });
  const auto widest_cell = greatest_of<std::size_t>(cells, [&](const HeatCell& cell) {
    return width_of(visible_text(heat_text(cell, plot.middle))) + 1;
  });
  const std::size_t cell_width = greatest_of(
      plot.x.categories,
      [](const std::string& name) { return widest_word(visible_text(name, 2 * kMostOfCell)); },
      widest_cell);
  HeatLayout layout;
  layout.names = std::min(names, columns * 45 / 100);
  layout.column = std::min(cell_width, kMostOfCell) + 1;
  layout.at_once = std::max<std::size_t>((columns - layout.names) / layout.column, 1);
  return layout;
}

void write_right(CharacterCanvas& canvas, std::size_t end, std::size_t row, std::string_view text) {
  canvas.write(end - width_of(text), row, text);
}

/// Draws the columns of the map from `first` on that fit side by side.
std::string text_of_part(const HeatMap& plot, const std::vector<HeatCell>& cells,
                         const HeatScale& scale, const HeatLayout& layout, std::size_t first) {
  const std::size_t last = std::min(first + layout.at_once, plot.x.categories.size());
  std::vector<std::vector<std::string>> headings;
  std::size_t heading_lines = 0;
  for (std::size_t i = first; i < last; ++i) {
    headings.push_back(wrapped(visible_text(plot.x.categories[i], 100), layout.column - 1));
    heading_lines = std::max(heading_lines, headings.back().size());
  }
  CharacterCanvas canvas(layout.names + layout.column * headings.size(),
                         heading_lines + plot.y.categories.size());
  for (std::size_t i = 0; i < headings.size(); ++i) {
    for (std::size_t line = 0; line < headings[i].size(); ++line) {
      write_right(canvas, layout.names + layout.column * (i + 1),
                  heading_lines - headings[i].size() + line, headings[i][line]);
    }
  }
  for (std::size_t row = 0; row < plot.y.categories.size(); ++row) {
    write_right(canvas, layout.names, heading_lines + row,
                visible_text(plot.y.categories[row], layout.names));
  }
  for (const HeatCell& cell : cells) {
    if (first <= cell.column && cell.column < last) {
      const std::size_t end = layout.names + layout.column * (cell.column - first + 1) - 1;
      const std::size_t row = heading_lines + cell.row;
      write_right(canvas, end, row, visible_text(heat_text(cell, plot.middle), layout.column - 2));
      canvas.put(end, row, block_of(cell, plot, scale));
    }
  }
  return canvas.text();
}

std::string legend_of_blocks(const HeatMap& plot, const HeatScale& scale, std::size_t columns) {
  const std::string range =
      plot.middle ? fmt::format("░▒▓█ from {:.3g} to {:.3g} on both sides: ", *plot.middle,
                                scale.greatest())
                  : fmt::format("░▒▓█ from {:.3g} to {:.3g}: ", scale.least(), scale.greatest());
  return character_lines(range + plot.value_title, columns);
}

std::string character_xy(const XyPlot& plot, std::size_t columns) {
  const CharacterFrame frame = character_frame(plot, columns);
  CharacterCanvas canvas(columns, frame.rows + 2);
  const std::string empty = canvas.text();
  CharacterMarks marks;
  for (std::size_t i = 0; i < plot.series.size(); ++i) {
    const PlotSeries& series = plot.series[i];
    const bool rule = series.shape == SeriesShape::rule;
    if (rule && series.points.size() == 1) {
      draw_rule(series, frame, canvas);
    } else if (series.shape != SeriesShape::points) {
      draw_joined(series, frame, canvas);
    }
    if (!rule) {
      draw_points(series, mark_of(plot, i), frame, canvas, marks);
    }
  }
  marks.draw(canvas);
  if (canvas.text() == empty) {
    return "";
  }
  draw_left_axis(frame, canvas);
  draw_bottom_axis(frame, canvas);
  return legend_of_characters(plot, marks.several(), columns) +
         character_lines(plot.y.title, columns) + canvas.text() +
         x_title_line(plot, frame, columns);
}

std::string character_heat(const HeatMap& plot, std::size_t columns) {
  const std::vector<HeatCell> cells = drawable_cells(plot);
  if (cells.empty()) {
    return "";
  }
  const HeatScale scale(mapped(cells, &HeatCell::value), plot.middle);
  const HeatLayout layout = layout_of(plot, cells, columns);
  std::string text = legend_of_blocks(plot, scale, columns) +
                     character_lines(fmt::format("{} by {}", plot.y.title, plot.x.title), columns);
  for (std::size_t first = 0; first < plot.x.categories.size(); first += layout.at_once) {
    text += (first == 0 ? "" : "\n") + text_of_part(plot, cells, scale, layout, first);
  }
  return text;
}

struct DrawCharacters {
  std::size_t columns = 0;
  std::string operator()(const XyPlot& plot) const {
    return plot.boxes.empty() ? character_xy(plot, columns)
                              : character_lines("boxes are drawn in reports only", columns);
  }
  std::string operator()(const HeatMap& plot) const { return character_heat(plot, columns); }
  std::string operator()(const ParallelPlot&) const {
    return character_lines("parallel axes are drawn in reports only", columns);
  }
};

}  // namespace

std::string character_plot(const Plot& plot, std::size_t columns) {
  constexpr std::size_t kUsual = 100;
  constexpr std::size_t kLeast = 40;
  constexpr std::size_t kMost = 500;
  const std::size_t width = columns == 0 ? kUsual : std::clamp(columns, kLeast, kMost);
  const std::string drawing = std::visit(DrawCharacters{width}, plot.drawing);
  return character_lines(plot.title, width) + (drawing.empty() ? "nothing to show\n" : drawing);
}

}  // namespace fatune
