#include <algorithm>

#include <fmt/format.h>

#include "emit/plots/plots.hpp"
#include "emit/plots/problem_group.hpp"
#include "emit/roofline.hpp"

namespace fatune {
namespace {

/// A map of lengths by groups of problems, without cells.
HeatMap empty_map(const StudyReport& report, std::string value_title) {
  HeatMap map{{"sequence length", AxisScale::category},
              {"", AxisScale::category, groups_of(report.runs, group_name)},
              std::move(value_title)};
  for (const std::int64_t length : lengths_of(report.runs)) {
    map.x.categories.push_back(std::to_string(length));
  }
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

/// Whether the cell is taken. Problems that differ only in what the map does not show (batch) share
/// a cell, and the first gets it.
bool is_taken(const HeatMap& map, const HeatCell& cell) {
  return std::ranges::any_of(map.cells, [&](const HeatCell& other) {
    return other.column == cell.column && other.row == cell.row;
  });
}

void add_cell(HeatMap& map, HeatCell cell) {
  if (!is_taken(map, cell)) {
    map.cells.push_back(std::move(cell));
  }
}

std::string lead_text(const ProblemReport& problem) {
  if (problem.ranking.size() < 2) {
    return {};
  }
  const double first = ranked_us(problem.ranking[0].outcome);
  const double second = ranked_us(problem.ranking[1].outcome);
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

}  // namespace

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

}  // namespace fatune
