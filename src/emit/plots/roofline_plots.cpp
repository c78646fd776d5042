#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "attention/flop.hpp"
#include "core/device_limits.hpp"
#include "emit/plots/plots.hpp"

namespace fatune {
namespace {

std::optional<double> counter_of(const Result& result, std::string_view name) {
  const auto* measured = std::get_if<Measured>(&result.outcome);
  if (measured == nullptr) {
    return std::nullopt;
  }
  const auto found = std::ranges::find(measured->counters, name, &CounterValue::name);
  return found == measured->counters.end() ? std::nullopt : std::optional(found->value);
}

/// A configuration's point: FLOP per byte of DRAM traffic, and TFLOP/s of the counted launches.
std::optional<PlotPoint> roofline_point(const ProblemReport& problem, const Result& result) {
  const auto us = counter_of(result, "duration_us");
  const auto mb = counter_of(result, "dram_mb");
  if (!us || !mb || *us <= 0.0 || *mb <= 0.0) {
    return std::nullopt;
  }
  constexpr double kBytesPerMb = 1e6;
  const double flop = literature_flop(problem.problem);
  PlotPoint point{.x = flop / (*mb * kBytesPerMb), .y = flop / *us * kFlopPerUsToTflops};
  point.label = fmt::format("{}: {}, {:.0f} FLOP per byte, {:.0f} TFLOP/s{}",
                            describe(problem.problem), result.short_form, point.x, point.y, [&] {
                              const auto hits = counter_of(result, "l2_hit_rate_percent");
                              return hits ? fmt::format(", {:.0f} % hits in L2", *hits) : "";
                            }());
  return point;
}

PlotSeries points_of_run(const RunReport& run, std::string name, std::size_t style) {
  PlotSeries series{std::move(name), SeriesShape::points, style, {}};
  for (const ProblemReport& problem : run.problems) {
    for (const Result& result : problem.ranking) {
      if (auto point = roofline_point(problem, result)) {
        series.points.push_back(std::move(*point));
      }
    }
  }
  return series;
}

/// The lower of the limits by memory and by the tensor cores, over the points' range of FLOP per
/// byte.
PlotSeries roof_of(const DeviceLimits& device, double least, double greatest) {
  constexpr double kTflopsPerGb = 1e-3;
  const double peak = peak_tensor_flop_per_us(device) * kFlopPerUsToTflops;
  const double ridge = peak / (device.memory_gbps * kTflopsPerGb);
  PlotSeries roof{device.name + ": memory and nominal peak", SeriesShape::rule, 0, {}};
  for (const double x : {std::min(least, ridge / 4.0), ridge, std::max(greatest, ridge * 4.0)}) {
    roof.points.push_back({.x = x, .y = std::min(peak, x * device.memory_gbps * kTflopsPerGb)});
  }
  return roof;
}

}  // namespace

std::vector<Plot> roofline_plots(const StudyReport& report) {
  XyPlot plot{{"FLOP per byte of DRAM traffic", AxisScale::log10}, {"TFLOP/s", AxisScale::log10}};
  for (std::size_t i = 0; i < report.runs.size(); ++i) {
    const RunReport& run = report.runs[i];
    PlotSeries series = points_of_run(run, report.names[i], i);
    if (series.points.empty()) {
      continue;
    }
    const auto [least, greatest] = std::ranges::minmax(series.points, {}, &PlotPoint::x);
    plot.series.push_back(std::move(series));
    if (run.device.memory_gbps > 0.0 && peak_tensor_flop_per_us(run.device) > 0.0) {
      plot.series.push_back(roof_of(run.device, least.x, greatest.x));
    }
  }
  if (plot.series.empty()) {
    return {};
  }
  return {{"roofline", "Roofline",
           "Configurations whose hardware counters were read: FLOP of the problem by the "
           "literature's count over the bytes that DRAM moved, and the rate while counters were "
           "read. Dashed: what memory and tensor cores allow at most.",
           std::move(plot)}};
}

}  // namespace fatune
