#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "base/ranges.hpp"
#include "choose/workload_cost.hpp"
#include "model/statistics.hpp"
#include "print/figures/plots.hpp"

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

/// A quantity that was read from the GPU while a problem was measured.
struct Reading {
  const char* id;
  const char* title;
  const char* axis;
  double round_to;  ///< the axis begins at a multiple of this; 0: at 0
  double GpuReading::*member;
  PlotPoint (*summary)(const GpuConditions&);
};

constexpr std::array kReadings{
    Reading{"clock", "SM clock over the run", "MHz", 100.0, &GpuReading::sm_mhz,
            [](const GpuConditions& c) {
              return PlotPoint{.y = c.sm_mhz_median, .low = c.sm_mhz_min, .high = c.sm_mhz_max};
            }},
    Reading{"power", "Power over the run", "W", 0.0, &GpuReading::power_w,
            [](const GpuConditions& c) {
              return PlotPoint{
                  .y = c.power_w_median, .low = c.power_w_median, .high = c.power_w_max};
            }},
    Reading{"temperature", "Temperature over the run", "degrees Celsius", 10.0,
            &GpuReading::temperature_c,
            [](const GpuConditions& c) { return PlotPoint{.y = c.temperature_c_max}; }}};

constexpr std::size_t kMostPoints = 600;

std::size_t count_readings(const RunReport& run) {
  return sum_of<std::size_t>(run.problems, [](const ProblemReport& problem) {
    return problem.conditions ? problem.conditions->timeline.size() : 0;
  });
}

/// The medians of `step` consecutive readings each.
std::vector<double> thinned(const std::vector<GpuReading>& timeline, const Reading& reading,
                            std::size_t step) {
  std::vector<double> values;
  for (std::size_t begin = 0; begin < timeline.size(); begin += step) {
    const std::size_t count = std::min(step, timeline.size() - begin);
    auto part = mapped(std::span(timeline).subspan(begin, count), reading.member);
    std::ranges::sort(part);
    values.push_back(median_of_sorted(part));
  }
  return values;
}

/// The points of a problem, spread evenly over the time spent on it. x is the time since the
/// problem's start. A run that kept no timeline has one point for each problem.
std::vector<PlotPoint> points_of(const ProblemReport& problem, const Reading& reading,
                                 double spent_s, std::size_t step) {
  const GpuConditions& conditions = *problem.conditions;
  std::vector<PlotPoint> points = mapped(thinned(conditions.timeline, reading, step),
                                         [&](const double value) { return PlotPoint{.y = value}; });
  if (points.empty()) {
    points.push_back(reading.summary(conditions));
  }
  for (std::size_t i = 0; i < points.size(); ++i) {
    points[i].x = spent_s * (static_cast<double>(i) + 0.5) / static_cast<double>(points.size());
    points[i].label =
        fmt::format("{}: {:.0f} {}", describe(problem.problem), points[i].y, reading.axis);
  }
  return points;
}

/// The readings of a run, with the problems in the order in which they were measured.
PlotSeries readings_of(const RunReport& run, const Reading& reading, std::string name,
                       std::size_t style) {
  PlotSeries series{std::move(name), SeriesShape::points, style, {}};
  if (!run.measured) {
    return series;  // a GPU that was read meanwhile has nothing to do with an estimate
  }
  const std::size_t step = 1 + count_readings(run) / kMostPoints;
  double begun_s = 0.0;
  for (const ProblemReport& problem : run.problems) {
    const double spent_s = problem.measuring ? problem.measuring->elapsed_s : 0.0;
    if (problem.conditions && problem.conditions->readings > 0) {
      for (PlotPoint& point : points_of(problem, reading, spent_s, step)) {
        point.x += begun_s;
        series.points.push_back(std::move(point));
      }
    }
    begun_s += spent_s;
  }
  return series;
}

const char* summary_of(const StudyReport& report) {
  const bool timed = std::ranges::any_of(
      report.runs, [](const RunReport& run) { return count_readings(run) > 0; });
  return timed ? "Medians of consecutive readings, problem after problem."
               : "A point for each problem: the median of the readings while it was measured "
                 "(for temperature, the highest), with their range.";
}

std::optional<double> beginning_of_axis(const XyPlot& plot, double round_to) {
  if (round_to == 0.0) {
    return std::nullopt;
  }
  double least = std::numeric_limits<double>::infinity();
  for (const PlotSeries& series : plot.series) {
    for (const PlotPoint& point : series.points) {
      least = std::min({least, point.y, point.low.value_or(point.y)});
    }
  }
  return std::max(0.0, std::floor(least / round_to) * round_to);
}

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

std::vector<Plot> race_plots(const ProblemReport& problem, const std::string& id,
                             const std::string& title) {
  std::vector<Plot> plots = course_plot(problem, id, title);
  append(plots, samples_plot(problem, id, title));
  return plots;
}

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

std::vector<Plot> workload_plots(const RunReport& run) {
  const auto cost = workload_cost(run.problems);
  if (!cost || cost->few.size() < 2) {
    return {};
  }
  PlotSeries sets{"with so many configurations", SeriesShape::line};
  PlotSeries winners{"with the winner of each problem", SeriesShape::rule, 1};
  for (const FewConfigs& few : cost->few) {
    const auto count = static_cast<double>(few.configs.size());
    sets.points.push_back(
        {.x = count,
         .y = few.total_us / kUsPerMs,
         .label = fmt::format("with {}: {:.2f} ms", few.configs.back(), few.total_us / kUsPerMs)});
    winners.points.push_back({.x = count, .y = cost->winners_us / kUsPerMs});
  }
  const std::string summary = fmt::format(
      "{} configurations take {:.2f} ms, the winners {:.2f} ms.", cost->few.back().configs.size(),
      cost->few.back().total_us / kUsPerMs, cost->winners_us / kUsPerMs);
  XyPlot plot{{"configurations"}, {.title = "ms"}, {std::move(sets), std::move(winners)}};
  return {{"workload", "Time of all calls with few configurations", summary, std::move(plot)}};
}

std::vector<Plot> condition_plots(const StudyReport& report) {
  std::vector<Plot> plots;
  for (const Reading& reading : kReadings) {
    XyPlot plot{.x = {.title = "seconds of measuring", .least = 0.0}, .y = {.title = reading.axis}};
    for (std::size_t i = 0; i < report.runs.size(); ++i) {
      PlotSeries series =
          readings_of(report.runs[i], reading, report.runs.size() == 1 ? "" : report.names[i], i);
      if (!series.points.empty()) {
        plot.series.push_back(std::move(series));
      }
    }
    if (!plot.series.empty()) {
      plot.y.least = beginning_of_axis(plot, reading.round_to);
      plots.push_back({reading.id, reading.title, summary_of(report), std::move(plot)});
    }
  }
  return plots;
}

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
