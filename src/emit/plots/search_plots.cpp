#include <fmt/format.h>

#include "emit/plots/plots.hpp"
#include "study/race_course.hpp"

namespace fatune {

std::vector<Plot> search_plots(const ProblemReport& problem, const std::string& id,
                               const std::string& title) {
  const std::vector<BestSoFar> course = search_course(problem);
  if (!was_searched(problem) || course.size() < 2) {
    return {};
  }
  PlotSeries best{"", SeriesShape::steps};
  for (const BestSoFar& step : course) {
    best.points.push_back({.x = static_cast<double>(step.proposal),
                           .y = step.us,
                           .label = fmt::format("{:.1f} us with number {}, proposed by {}: {}",
                                                step.us, step.proposal, step.by, step.config)});
  }
  const std::string summary =
      fmt::format("{} configurations were proposed; number {} is the fastest, proposed by {}.",
                  count_candidates(problem), course.back().proposal, course.back().by);
  best.points.push_back(
      {.x = static_cast<double>(count_candidates(problem)), .y = course.back().us});
  XyPlot plot{{.title = "configurations proposed", .least = 0.0},
              {"us of the fastest so far"},
              {std::move(best)}};
  return {{"search-" + id, "How the search converged: " + title, summary, std::move(plot)}};
}

}  // namespace fatune
