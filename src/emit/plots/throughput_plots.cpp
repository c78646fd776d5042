#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "attention/flop.hpp"
#include "core/device_limits.hpp"
#include "emit/plots/plots.hpp"
#include "emit/plots/problem_group.hpp"
#include "emit/roofline.hpp"

namespace fatune {
namespace {

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

std::string mask_name(const Problem& problem) { return problem.causal ? "causal" : "full"; }

constexpr const char* kPeakAtClock = "peak at the clock of the samples";

/// An upper limit of the rate while a problem was measured.
struct Ceiling {
  const char* name;
  std::optional<double> tflops;
};

std::vector<Ceiling> ceilings_of(const RunReport& run, const ProblemReport& problem) {
  const auto tflops = literature_tflops(problem, problem.ranking.front());
  const auto percent = percent_of_peak_at_clock(run, problem, problem.ranking.front());
  const double nominal =
      nominal_tensor_flop_per_clock(run.device.arch) ? peak_tensor_flop_per_us(run.device) : 0.0;
  return {
      {"nominal peak", nominal > 0.0 ? std::optional(nominal * kFlopPerUsToTflops) : std::nullopt},
      {kPeakAtClock, tflops && percent ? std::optional(*tflops * 100.0 / *percent) : std::nullopt},
      {"dense products", problem.matmul ? std::optional(problem.matmul->tflops) : std::nullopt}};
}

void add_ceilings(XyPlot& plot, const RunReport& run, const ProblemReport& problem,
                  const std::string& prefix) {
  for (const Ceiling& ceiling : ceilings_of(run, problem)) {
    if (ceiling.tflops) {
      add_point(plot, prefix + ceiling.name, SeriesShape::rule,
                {.x = static_cast<double>(problem.problem.seq_len), .y = *ceiling.tflops});
    }
  }
}

void add_winners(XyPlot& plot, const StudyReport& report, const std::string& group) {
  for (std::size_t i = 0; i < report.runs.size(); ++i) {
    const RunReport& run = report.runs[i];
    const std::string prefix = report.runs.size() == 1 ? "" : report.names[i] + ", ";
    for (const ProblemReport& problem : run.problems) {
      if (group_name_without_mask(problem.problem) == group &&
          find_ranked(run, problem.problem) == &problem) {
        add_point(plot, prefix + mask_name(problem.problem), SeriesShape::line,
                  {.x = static_cast<double>(problem.problem.seq_len),
                   .y = *literature_tflops(problem, problem.ranking.front()),
                   .label = describe(problem.problem) + ": " + problem.ranking.front().short_form});
      }
    }
  }
}

/// Adds the ceilings of the runs that `counts` accepts, on the problems of a group.
template <typename Counts>
void add_ceilings_of_runs(XyPlot& plot, const StudyReport& report, const std::string& group,
                          std::string (*name_of)(const Problem&), const Counts& counts) {
  for (const RunReport& run : report.runs) {
    const std::string prefix = report.runs.size() == 1 ? "" : run.device.name + ": ";
    for (const ProblemReport& problem : run.problems) {
      if (counts(run) && name_of(problem.problem) == group &&
          find_ranked(run, problem.problem) == &problem) {
        add_ceilings(plot, run, problem, prefix);
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
    if (std::ranges::find(devices, study.device) == devices.end()) {
      devices.push_back(study.device);
    }
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
