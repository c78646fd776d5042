#include <fmt/format.h>

#include "emit/plots/plots.hpp"

namespace fatune {
namespace {

Plot code_plot(const CodeStudy& study, std::size_t number) {
  XyPlot plot{.x = {.title = "rank correlation with the time", .least = -1.0, .greatest = 1.0},
              .y = {"", AxisScale::category},
              .series = {{}}};
  for (const CodeCorrelation& of : study.correlations) {
    plot.series.front().points.push_back(
        {.x = of.spearman,
         .y = static_cast<double>(plot.y.categories.size()),
         .low = of.low,
         .high = of.high,
         .label = fmt::format("{}: {:+.2f} ({:+.2f} to {:+.2f})", of.what, of.spearman, of.low,
                              of.high)});
    plot.y.categories.push_back(of.what);
  }
  return {
      fmt::format("code-{}", number), "Machine code and time: " + study.problem,
      "Spearman's correlation of each count of machine instructions, per FLOP, with the time of "
      "the configurations, with its confidence interval. To the right: more of it, slower.",
      std::move(plot)};
}

}  // namespace

std::vector<Plot> code_plots(const StudyReport& report) {
  std::vector<Plot> plots;
  for (const CodeStudy& study : report.code) {
    if (!study.correlations.empty()) {
      plots.push_back(code_plot(study, plots.size() + 1));
    }
  }
  return plots;
}

}  // namespace fatune
