#include "plot/heat_cells.hpp"

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

}  // namespace fatune
