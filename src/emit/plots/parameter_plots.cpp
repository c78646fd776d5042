#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "emit/plots/plots.hpp"

namespace fatune {
namespace {

PlotBox box_of(const FiveNumbers& numbers, std::size_t position, std::string label) {
  return {static_cast<double>(position), numbers.least,    numbers.low_quartile, numbers.median,
          numbers.high_quartile,         numbers.greatest, std::move(label)};
}

constexpr std::size_t kMostPairs = 12;  // study.pairs has pairs of neighbouring values first

Plot values_plot(const ParameterStudy& study) {
  XyPlot plot{.x = {.title = "slower than the fastest of the problem, %", .least = 0.0},
              .y = {"", AxisScale::category}};
  for (const ValueStudy& value : study.values) {
    plot.boxes.push_back(
        box_of(value.slower_percent, plot.y.categories.size(),
               fmt::format("{}: the best {:.1f} % slower, half of them below {:.1f} %", value.value,
                           value.slower_percent.least, value.slower_percent.median)));
    plot.y.categories.push_back(fmt::format("{} ({})", value.value, value.results));
  }
  return {"values-" + study.parameter, study.parameter + ": how its values compare",
          "Least, quartiles and greatest slowness of the configurations with each value. Their "
          "number is in brackets.",
          std::move(plot)};
}

Plot pairs_plot(const ParameterStudy& study) {
  XyPlot plot{.x = {.title = "change of the time, %; negative: faster"},
              .y = {"", AxisScale::category}};
  const std::size_t shown = std::min(study.pairs.size(), kMostPairs);
  for (const PairStudy& pair : std::span(study.pairs).first(shown)) {
    plot.boxes.push_back(
        box_of(pair.change_percent, plot.y.categories.size(),
               fmt::format("{} to {}: faster in {} of {} pairs, median {:+.1f} %", pair.from,
                           pair.to, pair.faster, pair.pairs, pair.change_percent.median)));
    plot.y.categories.push_back(fmt::format("{} to {} ({})", pair.from, pair.to, pair.pairs));
  }
  return {"pairs-" + study.parameter, study.parameter + ": what changing it alone does",
          "Change of the time in pairs of configurations that differ only in this parameter. "
          "The number of pairs is in brackets.",
          std::move(plot)};
}

}  // namespace

std::vector<Plot> parameter_plots(const ParameterStudy& study) {
  std::vector<Plot> plots{values_plot(study)};
  if (!study.pairs.empty()) {
    plots.push_back(pairs_plot(study));
  }
  return plots;
}

}  // namespace fatune
