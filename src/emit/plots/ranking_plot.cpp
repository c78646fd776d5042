#include <algorithm>

#include <fmt/format.h>

#include "emit/document/shared_parts.hpp"
#include "emit/plots/plots.hpp"

namespace fatune {
namespace {

PlotPoint ranked_point(const Result& result, std::size_t place) {
  const double us = ranked_us(result.outcome);
  PlotPoint point{.x = us, .y = static_cast<double>(place)};
  point.label = fmt::format("{}. {}: {:.1f} us", result.rank, result.short_form, us);
  if (const auto* measured = std::get_if<Measured>(&result.outcome)) {
    const Timing& timing = measured->timing;
    if (timing.median_low_us < timing.median_high_us) {
      point.low = timing.median_low_us;
      point.high = timing.median_high_us;
      point.label +=
          fmt::format(" ({:.1f} to {:.1f})", timing.median_low_us, timing.median_high_us);
    }
  }
  return point;
}

/// Names beside the plot, which has little room: common parts are stated once.
struct Names {
  std::string common;
  std::vector<std::string> each;
};

Names names_of(const std::vector<Result>& ranking, std::size_t shown) {
  Names names;
  for (std::size_t i = 0; i < shown; ++i) {
    names.each.push_back(ranking[i].short_form);
  }
  if (auto parts = share_parts(names.each); parts && shown > 1) {
    return {std::move(parts->common), std::move(parts->rest)};
  }
  return names;
}

}  // namespace

Plot ranking_plot(const ProblemReport& problem, const std::string& id, const std::string& title,
                  std::size_t most) {
  XyPlot plot{{"us"},
              {"", AxisScale::category},
              {{"fastest, or tied with it"}, {"slower", SeriesShape::points, 1}}};
  const std::size_t shown = std::min(most, problem.ranking.size());
  const Names names = names_of(problem.ranking, shown);
  for (std::size_t i = 0; i < shown; ++i) {
    const Result& result = problem.ranking[i];
    plot.y.categories.push_back(fmt::format("{}. {}", result.rank, names.each[i]));
    plot.series[result.tie_group == 1 ? 0 : 1].points.push_back(ranked_point(result, i));
  }
  std::erase_if(plot.series, [](const PlotSeries& series) { return series.points.empty(); });
  const bool measured =
      shown > 0 && std::holds_alternative<Measured>(problem.ranking.front().outcome);
  return {id, title,
          fmt::format("The first {} of {} configurations by {}, in microseconds.{}{}", shown,
                      problem.ranking.size(),
                      measured ? "the median of their samples, with its confidence interval"
                               : "their estimated time",
                      names.common.empty() ? "" : " All are " + names.common + ".",
                      measured ? " Configurations that left the race early have few samples, "
                                 "from its beginning; they were compared in rounds with the "
                                 "others, not by these medians."
                               : ""),
          std::move(plot)};
}

}  // namespace fatune
