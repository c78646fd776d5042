#include <set>

#include <fmt/format.h>

#include "base/ranges.hpp"
#include "base/text_parts.hpp"
#include "model/device_limits.hpp"
#include "model/flop.hpp"
#include "print/figures/plots.hpp"
#include "print/run_report.hpp"

namespace fatune {
namespace {

/// Resources of a row's machine code; nothing if it was not compiled. Shared memory: dynamic.
std::optional<double> registers_of(const StudyRow& row) {
  return if_any(row.result->facts, &ResourceFacts::registers_per_thread);
}

std::optional<double> spill_bytes_of(const StudyRow& row) {
  return if_any(row.result->facts, &ResourceFacts::spill_load_bytes);
}

std::optional<double> smem_kib_of(const StudyRow& row) {
  constexpr double kBytesPerKib = 1024.0;
  return if_any(row.result->facts, [&](const ResourceFacts&) {
    return static_cast<double>(row.result->dynamic_smem_bytes) / kBytesPerKib;
  });
}

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
  const auto names = mapped(std::span(ranking).first(shown), &Result::short_form);
  const auto parts = share_parts(names);
  return parts && shown > 1 ? Names{parts->common, parts->rest} : Names{"", names};
}

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

bool spills(const StudyRow& row) { return spill_bytes_of(row).value_or(0.0) > 0.0; }

struct Resource {
  const char* id;
  const char* title;   ///< the axis's title
  const char* plural;  ///< what sentences call several of it
  std::optional<double> (*of)(const StudyRow&);
};

constexpr std::array kResources{
    Resource{"registers", "registers per thread", "Registers", registers_of},
    Resource{"smem", "shared memory per block, KiB", "Shared memory", smem_kib_of},
    Resource{"spills", "spill loads per thread, bytes", "Spills", spill_bytes_of}};

struct ResourcePoints {
  std::vector<PlotPoint> points;
  std::vector<bool> spilled;
};

ResourcePoints points_of(const StudyRows& rows, const Resource& resource) {
  ResourcePoints all;
  for (const StudyRow& row : rows.rows) {
    if (const auto value = resource.of(row)) {
      all.points.push_back({.x = *value, .y = row.slower_percent, .row = row.number});
      all.spilled.push_back(spills(row));
    }
  }
  return all;
}

/// Whether at least one point in 20 differs from the most frequent value.
bool is_worth_a_plot(const std::vector<PlotPoint>& points) {
  constexpr std::size_t kOneIn = 20;
  std::map<double, std::size_t> counts;
  for (const PlotPoint& point : points) {
    ++counts[point.x];
  }
  const auto most =
      std::ranges::max_element(counts, {}, &std::pair<const double, std::size_t>::second);
  return most != counts.end() && (points.size() - most->second) * kOneIn >= points.size();
}

PlotSeries front_of(const std::vector<PlotPoint>& points) {
  std::vector<Costs> costs = mapped(points, [&](const PlotPoint& point) {
    return Costs{point.x, point.y};
  });
  PlotSeries front{"Pareto front", SeriesShape::steps, 2, {}};
  for (const std::size_t i : pareto_front(costs)) {
    front.points.push_back(
        {.x = points[i].x,
         .y = points[i].y,
         .label = fmt::format("{:g}: {:.1f} % slower", points[i].x, points[i].y)});
  }
  return front;
}

Plot resource_plot(const Resource& resource, const ResourcePoints& all) {
  XyPlot plot{{resource.title},
              {.title = "slower than the fastest, %", .least = 0.0},
              {{"no spills"}, {"spills", SeriesShape::points, 1}}};
  for (std::size_t i = 0; i < all.points.size(); ++i) {
    plot.series[all.spilled[i] ? 1 : 0].points.push_back(all.points[i]);
  }
  std::erase_if(plot.series, [](const PlotSeries& series) { return series.points.empty(); });
  plot.series.push_back(front_of(all.points));
  return {fmt::format("time-over-{}", resource.id), fmt::format("{} and time", resource.plural),
          fmt::format("{} of each configuration, and by how many percent it is slower than the "
                      "fastest of its problem. The front has those that no other beats in both.",
                      resource.plural),
          std::move(plot)};
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

/// One axis with a value for each row. Values are categories (text) or numbers.
struct AxisOfRows {
  std::string title;
  std::vector<std::optional<std::string>> texts;  ///< one for each row; empty: values are numbers
  std::vector<std::optional<double>> numbers;
};

std::optional<std::string> parameter_text(const Result& result, const std::string& name) {
  const auto found = std::ranges::find(result.parameters, name, &NamedValue::name);
  return found == result.parameters.end() ? std::nullopt : std::optional(found->text);
}

std::vector<std::string> different(const std::vector<std::optional<std::string>>& texts) {
  std::vector<std::string> values;
  for (const auto& text : texts) {
    if (text) {
      append_new(values, *text);
    }
  }
  std::ranges::sort(values, NaturalOrder{});
  return values;
}

std::vector<std::string> parameters_in(const StudyRows& rows) {
  std::vector<std::string> names;
  for (const StudyRow& row : rows.rows) {
    for (const NamedValue& parameter : row.result->parameters) {
      append_new(names, parameter.name);
    }
  }
  return names;
}

std::string run_name(const StudyReport& report, const StudyRow& row) {
  return report.names[static_cast<std::size_t>(row.run - report.runs.data())];
}

/// The axis of problems. It shows their lengths if they differ in nothing but length and batch.
AxisOfRows problem_axis(const StudyRows& rows) {
  const std::string group = group_name(rows.rows.front().problem->problem);
  const bool alike = std::ranges::all_of(
      rows.rows, [&](const StudyRow& row) { return group_name(row.problem->problem) == group; });
  return {
      alike ? "length" : "problem",
      mapped(rows.rows,
             [&](const StudyRow& row) {
               const Problem& problem = row.problem->problem;
               return std::optional(alike ? std::to_string(problem.seq_len) : describe(problem));
             }),
      {}};
}

std::vector<AxisOfRows> all_axes(const StudyReport& report, const StudyRows& rows) {
  using Text = std::optional<std::string>;
  std::vector<AxisOfRows> axes{
      {"run", mapped(rows.rows, [&](const StudyRow& r) { return Text(run_name(report, r)); }), {}},
      problem_axis(rows)};
  for (const std::string& name : parameters_in(rows)) {
    axes.push_back(
        {name,
         mapped(rows.rows, [&](const StudyRow& r) { return parameter_text(*r.result, name); }),
         {}});
  }
  axes.push_back({"registers", {}, mapped(rows.rows, registers_of)});
  axes.push_back({"spill bytes", {}, mapped(rows.rows, spill_bytes_of)});
  axes.push_back({"smem KiB", {}, mapped(rows.rows, smem_kib_of)});
  axes.push_back({"slower %", {}, mapped(rows.rows, [](const StudyRow& r) {
                    return std::optional(r.slower_percent);
                  })});
  return axes;
}

bool varies(const AxisOfRows& axis) {
  if (axis.numbers.empty()) {
    return different(axis.texts).size() > 1;
  }
  return std::ranges::any_of(axis.numbers,
                             [&](const auto& value) { return value != axis.numbers.front(); });
}

constexpr std::size_t kMostCategories = 40;
/// The fraction of a category's room on an axis over which lines are spread, the fastest on top.
/// Without this, all lines would lie on each other.
constexpr double kWithinValue = 0.6;

/// Adds the axis and each row's position on it.
void add_axis(ParallelPlot& plot, const AxisOfRows& of) {
  if (!of.numbers.empty()) {
    plot.axes.push_back({of.title, AxisScale::linear, {}, {}, {}});
    for (std::size_t i = 0; i < of.numbers.size(); ++i) {
      plot.lines[i].values.push_back(of.numbers[i]);
    }
    return;
  }
  const std::vector<std::string> values = different(of.texts);
  plot.axes.push_back({of.title, AxisScale::category, values, {}, {}});
  for (std::size_t i = 0; i < of.texts.size(); ++i) {
    std::optional<double> place;
    if (of.texts[i]) {
      const auto found = std::ranges::lower_bound(values, *of.texts[i], NaturalOrder{});
      place =
          static_cast<double>(found - values.begin()) + kWithinValue * (plot.lines[i].shade - 0.5);
    }
    plot.lines[i].values.push_back(place);
  }
}

/// 0 for the fastest of its problem, 1 for the slowest.
Shade shade_of(const StudyRow& row) {
  const auto others = static_cast<double>(row.problem->ranking.size() - 1);
  return others > 0.0 ? std::clamp((row.result->rank - 1) / others, 0.0, 1.0) : 0.0;
}

/// The rows of one family. Other families have other parameters.
StudyRows of_family(const StudyRows& rows, const std::string& family) {
  return {filtered(rows.rows,
                   [&](const StudyRow& row) { return row.result->config.family == family; })};
}

Plot parallel_plot(const StudyReport& report, const StudyRows& rows, const std::string& family) {
  ParallelPlot plot;
  for (const StudyRow& row : rows.rows) {
    plot.lines.push_back({{}, row.number, shade_of(row), {}});
  }
  for (const AxisOfRows& axis : all_axes(report, rows)) {
    if (varies(axis) &&
        (!axis.numbers.empty() || different(axis.texts).size() <= kMostCategories)) {
      add_axis(plot, axis);
    }
  }
  return {"parallel-" + family, fmt::format("{}: parameters, resources and time", family),
          fmt::format("{} configurations, a line each; dark lines are the fastest of their "
                      "problem, and lie above the others that have the same value. "
                      "Drag along an axis to keep a part of it.",
                      rows.rows.size()),
          std::move(plot)};
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

std::vector<Plot> parameter_plots(const ParameterStudy& study) {
  std::vector<Plot> plots{values_plot(study)};
  if (!study.pairs.empty()) {
    plots.push_back(pairs_plot(study));
  }
  return plots;
}

std::vector<Plot> resource_plots(const StudyRows& rows) {
  std::vector<Plot> plots;
  for (const Resource& resource : kResources) {
    if (const ResourcePoints all = points_of(rows, resource); is_worth_a_plot(all.points)) {
      plots.push_back(resource_plot(resource, all));
    }
  }
  return plots;
}

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

std::vector<Plot> parallel_plots(const StudyReport& report, const StudyRows& rows) {
  std::set<std::string> families;
  for (const StudyRow& row : rows.rows) {
    families.insert(row.result->config.family);
  }
  std::vector<Plot> plots;
  for (const std::string& family : families) {
    if (const StudyRows some = of_family(rows, family); some.rows.size() > 1) {
      plots.push_back(parallel_plot(report, some, family));
    }
  }
  return plots;
}

}  // namespace fatune
