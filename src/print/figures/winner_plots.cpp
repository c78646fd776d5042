#include <set>

#include <fmt/format.h>

#include "base/ranges.hpp"
#include "base/text_parts.hpp"
#include "model/device_limits.hpp"
#include "model/flop.hpp"
#include "print/comparisons.hpp"
#include "print/figures/plots.hpp"

namespace fatune {
namespace {

/// The first report of that problem in which something is ranked; null if there is none. Cover
/// races do not count.
const ProblemReport* find_ranked(const RunReport& run, const Problem& problem) {
  const auto found = std::ranges::find_if(run.problems, [&](const ProblemReport& report) {
    return report.problem == problem && !report.ranking.empty() && !is_cover_race(report);
  });
  return found == run.problems.end() ? nullptr : &*found;
}

/// A map of lengths by groups of problems, without cells.
HeatMap empty_map(const StudyReport& report, std::string value_title) {
  HeatMap map{{"sequence length", AxisScale::category},
              {"", AxisScale::category, groups_of(report.runs, group_name)},
              std::move(value_title)};
  map.x.categories = mapped(lengths_of(report.runs),
                            [](const std::int64_t length) { return std::to_string(length); });
  return map;
}

std::size_t place_of(const Axis& axis, const std::string& name) {
  return static_cast<std::size_t>(std::ranges::find(axis.categories, name) -
                                  axis.categories.begin());
}

/// An empty cell at the problem's place on the map.
HeatCell cell_for(const HeatMap& map, const Problem& problem) {
  HeatCell cell;
  cell.column = place_of(map.x, std::to_string(problem.seq_len));
  cell.row = place_of(map.y, group_name(problem));
  return cell;
}

/// Adds the cell unless it is taken. Problems that differ only in what the map does not show
/// (batch) share a cell, and the first gets it.
void add_cell(HeatMap& map, HeatCell cell) {
  const bool taken = std::ranges::any_of(map.cells, [&](const HeatCell& other) {
    return other.column == cell.column && other.row == cell.row;
  });
  if (!taken) {
    map.cells.push_back(std::move(cell));
  }
}

std::string lead_text(const ProblemReport& problem) {
  if (problem.ranking.size() < 2) {
    return {};
  }
  const auto [first, second] = compared_us(problem.ranking[0].outcome, problem.ranking[1].outcome);
  const bool tied = problem.ranking[0].tie_group == problem.ranking[1].tie_group;
  return fmt::format("; the runner-up is {:.1f} % slower{}", 100.0 * (second / first - 1.0),
                     tied ? ", which is not a difference beyond doubt" : "");
}

std::string winner_text(const ProblemReport& problem, double tflops) {
  const Result& winner = problem.ranking.front();
  return fmt::format("{}: {}, {:.1f} us, {:.0f} TFLOP/s{}", describe(problem.problem),
                     winner.short_form, ranked_us(winner.outcome), tflops, lead_text(problem));
}

std::string of_run(const StudyReport& report, std::size_t run) {
  return report.runs.size() == 1 ? std::string() : ": " + report.names[run];
}

std::string numbered(const char* id, const StudyReport& report, std::size_t run) {
  return report.runs.size() == 1 ? id : fmt::format("{}-{}", id, run + 1);
}

HeatMap winner_map(const StudyReport& report, const RunReport& run) {
  HeatMap map = empty_map(report, "TFLOP/s");
  for (const ProblemReport& problem : run.problems) {
    if (find_ranked(run, problem.problem) != &problem) {
      continue;
    }
    HeatCell cell = cell_for(map, problem.problem);
    cell.value = *literature_tflops(problem, problem.ranking.front());
    cell.text = fmt::format("{:.0f}", cell.value);
    cell.label = winner_text(problem, cell.value);
    add_cell(map, std::move(cell));
  }
  return map;
}

HeatMap change_map(const StudyReport& report, const RunReport& run) {
  HeatMap map = empty_map(report, "times as fast");
  map.middle = 1.0;
  for (const ProblemReport& before : report.runs.front().problems) {
    const ProblemReport* after = find_ranked(run, before.problem);
    if (after == nullptr || find_ranked(report.runs.front(), before.problem) != &before) {
      continue;
    }
    HeatCell cell = cell_for(map, before.problem);
    const double from_us = ranked_us(before.ranking.front().outcome);
    const double to_us = ranked_us(after->ranking.front().outcome);
    cell.value = from_us / to_us;
    cell.text = fmt::format("{:.2f}", cell.value);
    cell.label = fmt::format("{}: from {:.1f} to {:.1f} us; {} before, {} now",
                             describe(before.problem), from_us, to_us,
                             before.ranking.front().short_form, after->ranking.front().short_form);
    add_cell(map, std::move(cell));
  }
  return map;
}

/// The series of that name; adds it if the plot does not have it.
PlotSeries& series_named(XyPlot& plot, const std::string& name, SeriesShape shape) {
  const auto found = std::ranges::find(plot.series, name, &PlotSeries::name);
  if (found != plot.series.end()) {
    return *found;
  }
  const std::size_t style = plot.series.size();
  return plot.series.emplace_back(PlotSeries{name, shape, style, {}});
}

void add_point(XyPlot& plot, const std::string& name, SeriesShape shape, PlotPoint point) {
  std::vector<PlotPoint>& points = series_named(plot, name, shape).points;
  const bool taken =
      std::ranges::any_of(points, [&](const PlotPoint& other) { return other.x == point.x; });
  if (!taken) {
    points.push_back(std::move(point));
  }
}

constexpr const char* kPeakAtClock = "peak at the clock of the samples";

/// An upper limit of the rate while a problem was measured.
struct Ceiling {
  const char* name;
  std::optional<double> tflops;
};

/// What the memory's rates allow.
std::vector<Ceiling> memory_ceilings(const RunReport& run, const ProblemReport& problem) {
  const double flop_per_byte = literature_flop(problem.problem) / needed_bytes(problem.problem);
  constexpr double kTflopsPerGflops = 1e-3;
  const auto tflops = [&](double gbps) { return gbps * flop_per_byte * kTflopsPerGflops; };
  return {{"memory's bandwidth", tflops(run.device.memory_gbps)},
          {"memory's bandwidth as reads reached it",
           problem.memory ? std::optional(tflops(problem.memory->read_gb_per_s)) : std::nullopt}};
}

std::vector<Ceiling> product_ceilings(const RunReport& run, const ProblemReport& problem) {
  const auto tflops = literature_tflops(problem, problem.ranking.front());
  const auto percent = percent_of_peak_at_clock(run, problem, problem.ranking.front());
  const double nominal = nominal_tensor_flop_per_clock(run.device.arch)
                             ? product_rate(problem.problem) * peak_tensor_flop_per_us(run.device)
                             : 0.0;
  return {
      {"nominal peak", nominal > 0.0 ? std::optional(nominal * kFlopPerUsToTflops) : std::nullopt},
      {kPeakAtClock, tflops && percent ? std::optional(*tflops * 100.0 / *percent) : std::nullopt},
      {"dense products", problem.matmul ? std::optional(problem.matmul->tflops) : std::nullopt}};
}

void add_winners(XyPlot& plot, const StudyReport& report, const std::string& group) {
  for (std::size_t i = 0; i < report.runs.size(); ++i) {
    const RunReport& run = report.runs[i];
    const std::string prefix = report.runs.size() == 1 ? "" : report.names[i] + ", ";
    for (const ProblemReport& problem : run.problems) {
      if (group_name_without_mask(problem.problem) == group &&
          find_ranked(run, problem.problem) == &problem) {
        add_point(plot, prefix + (problem.problem.causal ? "causal" : "full"), SeriesShape::line,
                  {.x = static_cast<double>(problem.problem.seq_len),
                   .y = *literature_tflops(problem, problem.ranking.front()),
                   .label = describe(problem.problem) + ": " + problem.ranking.front().short_form});
      }
    }
  }
}

bool is_memory_nearer(const ProblemOfRun& of) {
  return is_memory_nearer(of.run, of.problem, of.problem.ranking.front());
}

/// Adds the ceilings of the runs that `counts` accepts, on the problems of a group: of the memory
/// if it is the nearer limit on all of them, else of products.
template <typename Counts>
void add_ceilings_of_runs(XyPlot& plot, const StudyReport& report, const std::string& group,
                          std::string (*name_of)(const Problem&), const Counts& counts) {
  std::vector<ProblemOfRun> problems;
  for (const RunReport& run : report.runs) {
    for (const ProblemReport& problem : run.problems) {
      if (counts(run) && name_of(problem.problem) == group &&
          find_ranked(run, problem.problem) == &problem) {
        problems.push_back({run, problem});
      }
    }
  }
  const bool of_memory =
      std::ranges::all_of(problems, [](const ProblemOfRun& of) { return is_memory_nearer(of); });
  for (const auto& [run, problem] : problems) {
    for (const Ceiling& ceiling :
         of_memory ? memory_ceilings(run, problem) : product_ceilings(run, problem)) {
      const std::string prefix = report.runs.size() == 1 ? "" : run.device.name + ": ";
      if (ceiling.tflops) {
        add_point(plot, prefix + ceiling.name, SeriesShape::rule,
                  {.x = static_cast<double>(problem.problem.seq_len), .y = *ceiling.tflops});
      }
    }
  }
}

XyPlot empty_plot() {
  return {{"sequence length", AxisScale::log2}, {.title = "TFLOP/s", .least = 0.0}};
}

void sort_by_length(XyPlot& plot) {
  for (PlotSeries& series : plot.series) {
    std::ranges::sort(series.points, {}, &PlotPoint::x);
  }
}

std::size_t lengths_in(const XyPlot& plot) {
  std::set<double> lengths;
  for (const PlotSeries& series : plot.series) {
    for (const PlotPoint& point : series.points) {
      lengths.insert(point.x);
    }
  }
  return lengths.size();
}

XyPlot winners_over_length(const StudyReport& report, const std::string& group) {
  XyPlot plot = empty_plot();
  add_winners(plot, report, group);
  add_ceilings_of_runs(plot, report, group, group_name_without_mask,
                       [](const RunReport&) { return true; });
  sort_by_length(plot);
  return plot;
}

/// The tensor cores' peak at the clock sampled while the peers were timed. Nothing if no run is on
/// their device, or the clock or the peak is not known.
std::optional<double> peak_meanwhile(const StudyReport& report, const PeerStudy& study,
                                     const PeerProblem& timed) {
  const auto run = std::ranges::find_if(report.runs, [&](const RunReport& one) {
    return one.device.name == study.device && nominal_tensor_flop_per_clock(one.device.arch);
  });
  return run == report.runs.end() || !timed.sm_mhz
             ? std::nullopt
             : std::optional(*nominal_tensor_flop_per_clock(run->device.arch) *
                             run->device.sm_count * *timed.sm_mhz * kFlopPerUsToTflops);
}

/// Adds the winner and its peers, which were timed in turns.
void add_peers(XyPlot& plot, const PeerProblem& timed) {
  const auto length = static_cast<double>(timed.problem.seq_len);
  const auto add = [&](const std::string& name, double tflops) {
    add_point(
        plot, name, SeriesShape::line,
        {.x = length,
         .y = tflops,
         .label = fmt::format("{}: {:.0f} TFLOP/s on {}", name, tflops, describe(timed.problem))});
  };
  if (timed.winner_tflops) {
    add("fatune", *timed.winner_tflops);
  }
  for (const PeerFigure& figure : timed.figures) {
    add(figure.peer, figure.literature_tflops);
  }
}

/// The GPUs on which peers were timed, each once.
std::vector<std::string> devices_of(const std::vector<PeerStudy>& studies) {
  std::vector<std::string> devices;
  for (const PeerStudy& study : studies) {
    append_new(devices, study.device);
  }
  return devices;
}

XyPlot peers_over_length(const StudyReport& report, const std::string& group,
                         const std::string& device) {
  XyPlot plot = empty_plot();
  for (const PeerStudy& study : report.peers) {
    for (const PeerProblem& timed : study.problems) {
      if (study.device == device && group_name(timed.problem) == group) {
        add_peers(plot, timed);
        if (const auto tflops = peak_meanwhile(report, study, timed)) {
          add_point(plot, kPeakAtClock, SeriesShape::rule,
                    {.x = static_cast<double>(timed.problem.seq_len), .y = *tflops});
        }
      }
    }
  }
  if (!plot.series.empty()) {
    add_ceilings_of_runs(plot, report, group, group_name,
                         [&](const RunReport& run) { return run.device.name == device; });
  }
  sort_by_length(plot);
  return plot;
}

void add_plot(std::vector<Plot>& plots, XyPlot plot, std::string title, const char* summary) {
  if (lengths_in(plot) > 1) {
    plots.push_back({fmt::format("throughput-{}", plots.size() + 1), std::move(title), summary,
                     std::move(plot)});
  }
}

}  // namespace

std::string group_name(const Problem& problem) {
  const std::string text = describe(problem);
  std::string_view rest = text;
  take_until(rest, ' ');
  take_until(rest, ' ');
  return std::string(rest);
}

std::string group_name_without_mask(const Problem& problem) {
  Problem full = problem;
  full.causal = false;
  return group_name(full);
}

std::vector<std::int64_t> lengths_of(const std::vector<RunReport>& runs) {
  std::set<std::int64_t> lengths;
  for (const RunReport& run : runs) {
    for (const ProblemReport& problem : run.problems) {
      lengths.insert(problem.problem.seq_len);
    }
  }
  return {lengths.begin(), lengths.end()};
}

std::vector<std::string> groups_of(const std::vector<RunReport>& runs,
                                   std::string (*name_of)(const Problem&)) {
  std::vector<std::string> groups;
  for (const RunReport& run : runs) {
    for (const ProblemReport& problem : run.problems) {
      append_new(groups, name_of(problem.problem));
    }
  }
  return groups;
}

std::vector<Plot> winner_maps(const StudyReport& report) {
  std::vector<Plot> plots;
  for (std::size_t i = 0; i < report.runs.size(); ++i) {
    HeatMap map = winner_map(report, report.runs[i]);
    if (map.cells.size() < 2) {
      continue;
    }
    const auto [least, greatest] = std::ranges::minmax(map.cells, {}, &HeatCell::value);
    const std::string summary = fmt::format(
        "{} of the fastest configuration of each problem: from {:.0f} to {:.0f} TFLOP/s by the "
        "literature's count.",
        report.runs[i].measured ? "Rate" : "Estimated rate", least.value, greatest.value);
    plots.push_back({numbered("winners", report, i), "TFLOP/s of the winners" + of_run(report, i),
                     summary, std::move(map)});
  }
  return plots;
}

std::vector<Plot> change_maps(const StudyReport& report) {
  std::vector<Plot> plots;
  for (std::size_t i = 1; i < report.runs.size(); ++i) {
    HeatMap map = change_map(report, report.runs[i]);
    if (map.cells.empty()) {
      continue;
    }
    const auto [least, greatest] = std::ranges::minmax(map.cells, {}, &HeatCell::value);
    plots.push_back(
        {numbered("change", report, i),
         fmt::format("{} compared with {}", report.names[i], report.names.front()),
         fmt::format("How many times as fast the winners of {} are as those of {}: {:.2f} to "
                     "{:.2f}. The runs were at different times: a few percent may be due to heat.",
                     report.names[i], report.names.front(), least.value, greatest.value),
         std::move(map)});
  }
  return plots;
}

std::vector<Plot> throughput_plots(const StudyReport& report) {
  std::vector<Plot> plots;
  const std::vector<std::string> devices = devices_of(report.peers);
  for (const std::string& group : groups_of(report.runs, group_name)) {
    for (const std::string& device : devices) {
      add_plot(plots, peers_over_length(report, group, device),
               "Beside others: " + group + (devices.size() == 1 ? "" : ", " + device),
               "Winners and other implementations of attention, timed in turns in the same rounds: "
               "their rates by the literature's count. Dashed: what the chip can do.");
    }
  }
  for (const std::string& group : groups_of(report.runs, group_name_without_mask)) {
    add_plot(plots, winners_over_length(report, group), "Winners: " + group,
             "The winners' rates in their own runs, by the literature's count. Dashed: what the "
             "chip can do.");
  }
  return plots;
}

}  // namespace fatune
