#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "emit/plots/plots.hpp"
#include "study/pareto.hpp"

namespace fatune {
namespace {

std::optional<double> registers_of(const StudyRow& row) {
  return row.result->facts ? std::optional<double>(row.result->facts->registers_per_thread)
                           : std::nullopt;
}

std::optional<double> spill_bytes_of(const StudyRow& row) {
  return row.result->facts ? std::optional(static_cast<double>(row.result->facts->spill_load_bytes))
                           : std::nullopt;
}

std::optional<double> smem_kib(const StudyRow& row) {
  return row.result->facts
             ? std::optional(static_cast<double>(row.result->dynamic_smem_bytes) / 1024.0)
             : std::nullopt;
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
    Resource{"smem", "shared memory per block, KiB", "Shared memory", smem_kib},
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
  std::vector<Costs> costs;
  for (const PlotPoint& point : points) {
    costs.push_back({point.x, point.y});
  }
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

}  // namespace

std::vector<Plot> resource_plots(const StudyRows& rows) {
  std::vector<Plot> plots;
  for (const Resource& resource : kResources) {
    if (const ResourcePoints all = points_of(rows, resource); is_worth_a_plot(all.points)) {
      plots.push_back(resource_plot(resource, all));
    }
  }
  return plots;
}

}  // namespace fatune
