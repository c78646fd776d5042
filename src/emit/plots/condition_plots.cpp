#include <fmt/format.h>

#include "emit/plots/plots.hpp"

namespace fatune {
namespace {

/// What was read of a GPU while a problem was measured.
struct Reading {
  const char* id;
  const char* title;
  const char* axis;
  PlotPoint (*of)(const GpuConditions&);
};

const std::array kReadings{
    Reading{"clock", "SM clock over the run", "MHz",
            [](const GpuConditions& c) {
              return PlotPoint{.y = c.sm_mhz_median, .low = c.sm_mhz_min, .high = c.sm_mhz_max};
            }},
    Reading{"power", "Power over the run", "W",
            [](const GpuConditions& c) {
              return PlotPoint{
                  .y = c.power_w_median, .low = c.power_w_median, .high = c.power_w_max};
            }},
    Reading{"temperature", "Temperature over the run", "degrees Celsius",
            [](const GpuConditions& c) { return PlotPoint{.y = c.temperature_c_max}; }}};

/// A point for each problem, in the order in which they were measured: x is the time that was spent
/// on those before it and half of its own.
PlotSeries readings_of(const RunReport& run, const Reading& reading, std::string name,
                       std::size_t style) {
  PlotSeries series{std::move(name), SeriesShape::points, style, {}};
  double begun_s = 0.0;
  for (const ProblemReport& problem : run.problems) {
    const double spent_s = problem.measuring ? problem.measuring->elapsed_s : 0.0;
    if (problem.conditions && problem.conditions->readings > 0) {
      PlotPoint point = reading.of(*problem.conditions);
      point.x = begun_s + spent_s / 2.0;
      point.label = fmt::format("{}: {:.0f} {}", describe(problem.problem), point.y, reading.axis);
      series.points.push_back(std::move(point));
    }
    begun_s += spent_s;
  }
  return series;
}

}  // namespace

std::vector<Plot> condition_plots(const StudyReport& report) {
  std::vector<Plot> plots;
  for (const Reading& reading : kReadings) {
    XyPlot plot{{"seconds of measuring", AxisScale::linear, {}, 0.0, {}},
                {reading.axis, AxisScale::linear, {}, {}, {}},
                {},
                {}};
    for (std::size_t i = 0; i < report.runs.size(); ++i) {
      PlotSeries series =
          readings_of(report.runs[i], reading, report.runs.size() == 1 ? "" : report.names[i], i);
      if (!series.points.empty()) {
        plot.series.push_back(std::move(series));
      }
    }
    if (!plot.series.empty()) {
      plots.push_back({reading.id, reading.title,
                       "A point for each problem: the median of the readings while it was measured "
                       "(of the temperature the greatest), with their range.",
                       std::move(plot)});
    }
  }
  return plots;
}

}  // namespace fatune
