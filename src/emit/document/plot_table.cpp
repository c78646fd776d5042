#include "emit/document/document.hpp"

#include <algorithm>
#include <cmath>

namespace fatune {
namespace {

std::string heading_of(const Axis& axis, const char* otherwise) {
  return axis.title.empty() ? otherwise : axis.title;
}

Table::Column plain_column(const std::string& heading) {
  return {.name = heading, .heading = heading, .look = {.decimals = kBySize}};
}

Table with_columns(const std::vector<std::string>& headings) {
  Table table;
  for (const std::string& heading : headings) {
    table.columns.push_back(plain_column(heading));
  }
  return table;
}

/// The category's name on an axis of categories, where such a position exists; else the number.
FieldValue on_axis(const Axis& axis, double value) {
  if (axis.scale != AxisScale::category) {
    return value;
  }
  const auto at = static_cast<std::size_t>(std::max(0.0, std::round(value)));
  return at < axis.categories.size() ? FieldValue{axis.categories[at]} : FieldValue{};
}

FieldValue optional_number(const std::optional<double>& value) {
  return value ? FieldValue{*value} : FieldValue{};
}

Table table_of_boxes(const XyPlot& plot) {
  Table table = with_columns({heading_of(plot.y, "value"), "least", "low quartile", "median",
                              "high quartile", "greatest"});
  for (const PlotBox& box : plot.boxes) {
    table.rows.push_back({on_axis(plot.y, box.position), box.least, box.low_quartile, box.median,
                          box.high_quartile, box.greatest});
  }
  return table;
}

struct TableOfDrawing {
  Table operator()(const XyPlot& plot) const {
    if (!plot.boxes.empty()) {
      return table_of_boxes(plot);
    }
    Table table = with_columns(
        {"series", heading_of(plot.x, "x"), heading_of(plot.y, "y"), "low", "high", "note"});
    for (const PlotSeries& series : plot.series) {
      for (const PlotPoint& point : series.points) {
        if (!point.row) {
          table.rows.push_back({series.name, on_axis(plot.x, point.x), on_axis(plot.y, point.y),
                                optional_number(point.low), optional_number(point.high),
                                point.label});
        }
      }
    }
    return table;
  }
  Table operator()(const HeatMap& map) const {
    Table table = with_columns({heading_of(map.y, "row"), heading_of(map.x, "column"),
                                map.value_title.empty() ? "value" : map.value_title, "note"});
    for (const HeatCell& cell : map.cells) {
      table.rows.push_back({on_axis(map.y, static_cast<double>(cell.row)),
                            on_axis(map.x, static_cast<double>(cell.column)), cell.value,
                            cell.label});
    }
    return table;
  }
  Table operator()(const ParallelPlot&) const { return {}; }
};

}  // namespace

Table plot_table(const Plot& plot) { return std::visit(TableOfDrawing{}, plot.drawing); }

}  // namespace fatune
