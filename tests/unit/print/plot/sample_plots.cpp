#include "sample_plots.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <limits>
#include <random>

namespace fatune::testing_plots {
namespace {

PlotPoint point_of(double x, double y, std::int64_t row) {
  PlotPoint point{x, y};
  point.row = row;
  return point;
}

PlotPoint interval_of(double x, double y, std::int64_t row) {
  PlotPoint point = point_of(x, y, row);
  point.low = x - 4.0;
  point.high = x + 5.0;
  point.label = fmt::format("{} us", x);
  return point;
}

PlotSeries rule_of(double x, double y) {
  PlotSeries rule{"limit"};
  rule.shape = SeriesShape::rule;
  rule.style = 2;
  rule.points = {{x, y}};
  return rule;
}

class RandomPlots {
 public:
  explicit RandomPlots(std::uint32_t seed) : random_(seed) {}

  Plot plot() {
    Plot plot{text(), text(), text(), {}};
    switch (below(3)) {
      case 0:
        plot.drawing = xy();
        break;
      case 1:
        plot.drawing = heat();
        break;
      default:
        plot.drawing = parallel();
    }
    return plot;
  }

 private:
  std::size_t below(std::size_t count) { return random_() % count; }

  double number() {
    constexpr double kInfinite = std::numeric_limits<double>::infinity();
    constexpr double kLargest = std::numeric_limits<double>::max();
    const std::array kOdd{
        std::nan(""), kInfinite, -kInfinite, kLargest,
        -kLargest,    0.0,       -0.0,       std::numeric_limits<double>::denorm_min(),
        -1.0,         1e100,     1e15};
    return below(6) == 0 ? kOdd.at(below(kOdd.size()))
                         : static_cast<double>(below(100000)) / std::pow(10.0, below(6));
  }

  /// A place on an axis: mostly the index of one of a few categories, sometimes any number.
  double place() { return below(5) == 0 ? number() : static_cast<double>(below(6)); }

  std::optional<double> maybe_number() {
    return below(3) == 0 ? std::optional(number()) : std::nullopt;
  }

  std::string text() {
    constexpr std::array<std::string_view, 6> kHostile{
        "</svg><script>alert(1)</script>", "\" onload='x' a=\"",   "]]>&amp;<!--",
        "\xE2\x80\xAE\xEF\xBB\xBF",        "\xFF\xC0\xED\xA0\x80", "\x1B[31m\n\t"};
    std::string text;
    for (std::size_t i = below(30); i > 0; --i) {
      text += static_cast<char>(below(8) == 0 ? below(256) : 'a' + below(26));
    }
    return below(4) == 0 ? text + std::string(kHostile.at(below(kHostile.size()))) : text;
  }

  std::vector<std::string> texts() {
    std::vector<std::string> texts(below(7));
    for (std::string& one : texts) {
      one = text();
    }
    return texts;
  }

  Axis axis() {
    return {text(), static_cast<AxisScale>(below(4)), texts(), maybe_number(), maybe_number()};
  }

  PlotPoint point() {
    return {place(),        place(), maybe_number(),
            maybe_number(), text(),  static_cast<std::int64_t>(below(99))};
  }

  XyPlot xy() {
    XyPlot plot{axis(), axis()};
    plot.series.resize(below(5));
    for (PlotSeries& series : plot.series) {
      series = {text(), static_cast<SeriesShape>(below(4)), below(30), {}};
      for (std::size_t i = below(12); i > 0; --i) {
        series.points.push_back(point());
      }
    }
    for (std::size_t i = below(4); i > 0; --i) {
      plot.boxes.push_back({place(), number(), number(), number(), number(), number(), text()});
    }
    return plot;
  }

  HeatMap heat() {
    HeatMap map{axis(), axis(), text(), maybe_number()};
    for (std::size_t i = below(30); i > 0; --i) {
      map.cells.push_back({below(8), below(8), number(), below(2) == 0 ? text() : "", text()});
    }
    return map;
  }

  ParallelPlot parallel() {
    ParallelPlot plot;
    for (std::size_t i = below(14); i > 0; --i) {
      plot.axes.push_back(axis());
    }
    for (std::size_t i = below(20); i > 0; --i) {
      ParallelPlot::Line line{
          {}, static_cast<std::int64_t>(i), number(), below(2) == 0 ? text() : ""};
      for (std::size_t k = below(16); k > 0; --k) {
        line.values.push_back(below(5) == 0 ? std::nullopt : std::optional(place()));
      }
      plot.lines.push_back(std::move(line));
    }
    return plot;
  }

  std::mt19937 random_;
};

void set_text(Axis& axis, const std::string& text) {
  axis.title = text;
  for (std::string& name : axis.categories) {
    name = text;
  }
}

struct SetText {
  const std::string& text;

  void operator()(XyPlot& plot) const {
    set_text(plot.x, text);
    set_text(plot.y, text);
    for (PlotSeries& series : plot.series) {
      series.name = text;
      for (PlotPoint& point : series.points) {
        point.label = text;
      }
    }
    for (PlotBox& box : plot.boxes) {
      box.label = text;
    }
  }
  void operator()(HeatMap& plot) const {
    set_text(plot.x, text);
    set_text(plot.y, text);
    plot.value_title = text;
    for (HeatCell& cell : plot.cells) {
      cell.text = text;
      cell.label = text;
    }
  }
  void operator()(ParallelPlot& plot) const {
    for (Axis& axis : plot.axes) {
      set_text(axis, text);
    }
    for (ParallelPlot::Line& line : plot.lines) {
      line.label = text;
    }
  }
};

}  // namespace

Plot interval_plot() {
  XyPlot plot{{"time (us)"},
              {"configuration", AxisScale::category, {"(FP16, 64)", "(FP16, 128)", "(BF16, 64)"}}};
  plot.series = {{"tied"}, {"slower"}};
  plot.series[1].style = 1;
  for (std::int64_t i = 0; i < 3; ++i) {
    const auto place = static_cast<double>(i);
    plot.series[0].points.push_back(interval_of(100.0 + 3.0 * place, place, i + 1));
    plot.series[1].points.push_back(interval_of(130.0 + 5.0 * place, place, i + 4));
  }
  plot.series.push_back(rule_of(102.0, 0.0));
  return {"intervals", "Time by configuration", "The first is fastest.", plot};
}

Plot line_plot() {
  XyPlot plot{{"sequence length", AxisScale::log2}, {"TFLOP/s"}};
  plot.series = {{"first"}, {"second"}, {"best so far"}};
  plot.series[0].shape = SeriesShape::line;
  plot.series[1].shape = SeriesShape::line;
  plot.series[1].style = 1;
  plot.series[2].shape = SeriesShape::steps;
  plot.series[2].style = 3;
  for (std::int64_t i = 0; i < 6; ++i) {
    const double length = std::ldexp(512.0, static_cast<int>(i));
    const auto place = static_cast<double>(i);
    plot.series[0].points.push_back(point_of(length, 700.0 - 300.0 / (place + 1.0), i));
    plot.series[1].points.push_back(point_of(length, 550.0 - 60.0 * place, i));
    plot.series[2].points.push_back({length, 100.0 + 40.0 * place});
  }
  plot.series.push_back(rule_of(512.0, 750.0));
  return {"lines", "Speed by length", "The first is faster.", plot};
}

Plot box_plot() {
  XyPlot plot{{"percent"}, {"B_r", AxisScale::category, {"64", "128"}}};
  plot.boxes = {{0.0, 50.0, 60.0, 70.0, 85.0, 100.0, "64: 70 %"},
                {1.0, 20.0, 30.0, 35.0, 50.0, 90.0, ""}};
  return {"boxes", "Distribution", "64 is faster.", plot};
}

Plot heat_plot() {
  HeatMap map{{"length", AxisScale::category, {"512", "1024"}},
              {"configuration", AxisScale::category, {"a", "b"}},
              "percent slower"};
  map.cells = {{0, 0, 0.0, "0.0", "a at 512"},
               {1, 0, 12.5, "12.5", ""},
               {0, 1, 30.0, "30.0", ""},
               {1, 1, 4.0, "4.0", ""}};
  return {"heat", "How much slower", "a is faster.", map};
}

Plot two_sided_plot() {
  HeatMap map{{"length", AxisScale::category, {"512", "1024"}},
              {"configuration", AxisScale::category, {"a", "b"}},
              "percent faster",
              0.0};
  map.cells = {{0, 0, -8.0, "-8", ""}, {1, 0, 3.0, "+3", ""}, {0, 1, -2.0, "", ""}};
  return {"two-sided", "Against the median", "a at 512 is slower.", map};
}

Plot parallel_plot() {
  ParallelPlot plot;
  plot.axes = {{"B_r"}, {"schedule", AxisScale::category, {"ws", "ws_pp"}}, {"time (us)"}};
  plot.lines = {{{64.0, 0.0, 10.0}, 7, 0.0, "best"},
                {{128.0, {}, 20.0}, 8, 1.0, ""},
                {{96.0, 1.0, 15.0}, 9, 0.5, ""}};
  return {"parallel", "Parameters", "ws is faster.", plot};
}

std::vector<Plot> all_drawings() {
  return {interval_plot(), line_plot(), box_plot(), heat_plot(), two_sided_plot(), parallel_plot()};
}

Plot many_points(std::size_t count) {
  XyPlot plot{{"registers"}, {"time (us)"}};
  PlotSeries series{"configuration"};
  for (std::size_t i = 0; i < count; ++i) {
    const auto number = static_cast<double>(i);
    PlotPoint point = point_of(number * 7.3, 3000.0 + number, static_cast<std::int64_t>(i));

    point.label = std::string(25, 'x');
    series.points.push_back(point);
  }
  plot.series = {series};
  return {"many", "Many", "Many points.", plot};
}

Plot many_lines(std::size_t lines, std::size_t axes) {
  ParallelPlot plot;
  for (std::size_t i = 0; i < axes; ++i) {
    plot.axes.push_back({fmt::format("parameter {}", i)});
  }
  for (std::size_t i = 0; i < lines; ++i) {
    ParallelPlot::Line line{
        {}, static_cast<std::int64_t>(i), static_cast<double>(i) / static_cast<double>(lines)};
    for (std::size_t k = 0; k < axes; ++k) {
      line.values.emplace_back(static_cast<double>(i * (k + 3) % 97));
    }
    plot.lines.push_back(line);
  }
  return {"many", "Many", "Many lines.", plot};
}

Plot with_text_everywhere(Plot plot, const std::string& text) {
  plot.id = text;
  plot.title = text;
  plot.summary = text;
  std::visit(SetText{text}, plot.drawing);
  return plot;
}

Plot random_plot(std::uint32_t seed) { return RandomPlots(seed).plot(); }

}  // namespace fatune::testing_plots
