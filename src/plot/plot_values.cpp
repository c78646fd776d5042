#include "plot/plot_values.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace fatune {

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

}  // namespace

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

}  // namespace fatune
