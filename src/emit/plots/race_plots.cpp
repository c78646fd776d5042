#include <fmt/format.h>

#include "emit/plots/plots.hpp"
#include "study/race_course.hpp"

namespace fatune {
namespace {

std::vector<Plot> course_plot(const ProblemReport& problem, const std::string& id,
                              const std::string& title) {
  PlotSeries left{"", SeriesShape::steps};
  for (const RoundOfRace& round : race_course(problem)) {
    left.points.push_back(
        {.x = static_cast<double>(round.round),
         .y = static_cast<double>(round.contenders),
         .label = fmt::format("{} left behind round {}", round.contenders, round.round)});
  }
  if (left.points.size() < 2) {
    return {};
  }
  const std::string summary =
      fmt::format("{} configurations began; {} were left behind round {}.", left.points.front().y,
                  left.points.back().y, left.points.back().x);
  XyPlot plot{{.title = "round", .least = 0.0},
              {"configurations in the race", AxisScale::log10},
              {std::move(left)}};
  return {{"race-" + id, "Configurations left in the race: " + title, summary, std::move(plot)}};
}

std::vector<Plot> samples_plot(const ProblemReport& problem, const std::string& id,
                               const std::string& title) {
  PlotSeries samples{"", SeriesShape::steps};
  std::size_t all = 0;
  std::size_t count = 0;
  for (const Result& result : problem.ranking) {
    const auto* measured = std::get_if<Measured>(&result.outcome);
    if (measured == nullptr || measured->timing.samples_us.empty()) {
      continue;
    }
    all += measured->timing.samples_us.size();
    ++count;
    const auto taken = static_cast<double>(measured->timing.samples_us.size());
    if (!samples.points.empty() && samples.points.back().y == taken) {
      continue;
    }
    samples.points.push_back({.x = static_cast<double>(result.rank), .y = taken});
  }
  if (samples.points.size() < 2) {
    return {};
  }
  XyPlot plot{{"place in the ranking"}, {.title = "samples", .least = 0.0}, {std::move(samples)}};
  return {{"samples-" + id, "Samples of each configuration: " + title,
           fmt::format("{} samples of {} configurations: most went to those that could still win.",
                       all, count),
           std::move(plot)}};
}

}  // namespace

std::vector<Plot> race_plots(const ProblemReport& problem, const std::string& id,
                             const std::string& title) {
  std::vector<Plot> plots = course_plot(problem, id, title);
  for (Plot& plot : samples_plot(problem, id, title)) {
    plots.push_back(std::move(plot));
  }
  return plots;
}

}  // namespace fatune
