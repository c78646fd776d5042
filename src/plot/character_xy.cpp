#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>

#include "core/ranges.hpp"
#include "core/visible_text.hpp"
#include "plot/character_canvas.hpp"
#include "plot/plot_values.hpp"
#include "plot/scale.hpp"

namespace fatune {
namespace {

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
  [[nodiscard]] bool along_x() const { return y_kind == AxisScale::category; }
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
  std::size_t widest = 0;
  for (const Tick& tick : y.ticks()) {
    widest = std::max(widest, width_of(visible_text(tick.label)));
  }
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

bool is_marked(const PlotSeries& series) {
  return series.shape == SeriesShape::points || series.shape == SeriesShape::line;
}

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
  const Scale& scale = frame.along_x() ? frame.x : frame.y;
  const auto end = [&](const std::optional<double>& value) {
    return value ? scale.nearest_part_of(*value) : std::nullopt;
  };
  const std::optional<double> low = end(point.low);
  const std::optional<double> high = end(point.high);
  if (!low || !high) {
    return;
  }
  const auto number = [&](double value) {
    return frame.along_x() ? frame.column_number(value) : frame.row_number(value);
  };
  const auto [first, last] = std::minmax({number(*low), number(*high)});
  for (std::size_t i = first; i <= last && first < last; ++i) {
    if (frame.along_x()) {
      canvas.put(i, frame.row_number(part.y), i == first ? "├" : i == last ? "┤" : "─");
    } else {
      canvas.put(frame.column_number(part.x), i, i == first ? "┬" : i == last ? "┴" : "│");
    }
  }
}

/// Draws a rule with one point: a line across the whole plot.
void draw_rule(const PlotSeries& series, const CharacterFrame& frame, CharacterCanvas& canvas) {
  const PlotPoint& point = series.points.front();
  const std::optional<double> part =
      frame.along_x() ? frame.x.part_of(point.x) : frame.y.part_of(point.y);
  for (std::size_t row = 0; part && frame.along_x() && row < frame.rows; ++row) {
    canvas.put(frame.column_number(*part), row, "┊");
  }
  if (part && !frame.along_x()) {
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
    if (place && before && series.shape == SeriesShape::steps) {
      const CanvasPlace corner{place->column, before->row};
      canvas.line(*before, corner);
      canvas.line(corner, *place);
    } else if (place) {
      canvas.line(before.value_or(*place), *place, dashed);
    }
    before = place;
  }
}

void draw_lines(const PlotSeries& series, const CharacterFrame& frame, CharacterCanvas& canvas) {
  if (series.shape == SeriesShape::rule && series.points.size() == 1) {
    draw_rule(series, frame, canvas);
  } else if (series.shape != SeriesShape::points) {
    draw_joined(series, frame, canvas);
  }
}

/// Many points of a single series are drawn as braille dots, which are finer than characters.
bool drawn_as_dots(const PlotSeries& series, std::string_view mark) {
  constexpr std::size_t kMany = 60;
  return mark == kOneSeries && series.points.size() > kMany;
}

void draw_points(const PlotSeries& series, std::string_view mark, const CharacterFrame& frame,
                 CharacterCanvas& canvas, CharacterMarks& marks) {
  for (const PlotPoint& point : series.points) {
    const std::optional<PartPlace> part = parts_of(frame, point);
    if (part) {
      draw_interval(point, *part, frame, canvas);
      if (drawn_as_dots(series, mark) && !frame.along_x()) {
        canvas.dot(canvas_place(frame, *part));
      } else {
        marks.add(frame.column_number(part->x), frame.row_number(part->y), mark);
      }
    }
  }
}

/// Puts the letter of a series of steps at its end if there are several series. Steps have no
/// marks.
void mark_end(const PlotSeries& series, std::string_view mark, const CharacterFrame& frame,
              CharacterMarks& marks) {
  const std::optional<PartPlace> part =
      series.points.empty() ? std::nullopt : parts_of(frame, series.points.back());
  if (part && series.shape == SeriesShape::steps && mark != kOneSeries) {
    marks.add(frame.column_number(part->x), frame.row_number(part->y), mark);
  }
}

/// Draws ├──▒▒▒┃▒▒──┤.
void draw_box(const PlotBox& box, const CharacterFrame& frame, CharacterCanvas& canvas) {
  const std::optional<double> y = frame.y.part_of(box.position);
  const auto ends =
      mapped(std::array{box.least, box.low_quartile, box.median, box.high_quartile, box.greatest},
             [&](double value) { return frame.x.nearest_part_of(value); });
  if (!y || std::ranges::any_of(ends, [](const auto& end) { return !end; })) {
    return;
  }
  const auto column = mapped(ends, [&](const auto& end) { return frame.column_number(*end); });
  const std::size_t row = frame.row_number(*y);
  for (std::size_t i = column[0]; i <= column[4]; ++i) {
    canvas.put(i, row, i >= column[1] && i <= column[3] ? "▒" : "─");
  }
  canvas.put(column[0], row, column[0] < column[1] ? "├" : "▒");
  canvas.put(column[4], row, column[3] < column[4] ? "┤" : "▒");
  canvas.put(column[2], row, "┃");
}

std::string sample_of(const PlotSeries& series, const std::string& mark) {
  if (series.shape == SeriesShape::rule) {
    return "- - ";
  }
  const bool dots = is_marked(series) && drawn_as_dots(series, mark);
  const bool plain = dots || (!is_marked(series) && mark == kOneSeries);
  return (plain ? "" : mark + " ");
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
      const std::string sample = sample_of(series, mark_of(plot, i));
      add(sample + visible_text(series.name, columns - width_of(sample)));
    }
  }
  if (several) {
    add(std::string(kSeveral) + " several");
  }
  return lines + (line.empty() ? "" : line + "\n");
}

/// The axis' title below the middle of the axis.
std::string x_title_line(const XyPlot& plot, const CharacterFrame& frame, std::size_t columns) {
  const std::string title = visible_text(plot.x.title, columns);
  const std::size_t width = width_of(title);
  const std::size_t wished = frame.left + (frame.columns > width ? (frame.columns - width) / 2 : 0);
  return title.empty() ? "" : std::string(std::min(wished, columns - width), ' ') + title + "\n";
}

}  // namespace

std::string character_xy(const XyPlot& plot, std::size_t columns) {
  const CharacterFrame frame = character_frame(plot, columns);
  CharacterCanvas canvas(columns, frame.rows + 2);
  const std::string empty = canvas.text();
  CharacterMarks marks;
  for (const PlotSeries& series : plot.series) {
    draw_lines(series, frame, canvas);
  }
  for (const PlotBox& box : plot.boxes) {
    draw_box(box, frame, canvas);
  }
  for (std::size_t i = 0; i < plot.series.size(); ++i) {
    const PlotSeries& series = plot.series[i];
    const std::string mark = mark_of(plot, i);
    if (is_marked(series)) {
      draw_points(series, mark, frame, canvas, marks);
    }
    mark_end(series, mark, frame, marks);
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

}  // namespace fatune
