#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "core/text_parts.hpp"
#include "emit/plots/plots.hpp"

namespace fatune {
namespace {

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
    if (text && std::ranges::find(values, *text) == values.end()) {
      values.push_back(*text);
    }
  }
  std::ranges::sort(values, NaturalOrder{});
  return values;
}

std::vector<std::string> parameters_in(const StudyRows& rows) {
  std::vector<std::string> names;
  for (const StudyRow& row : rows.rows) {
    for (const NamedValue& parameter : row.result->parameters) {
      if (std::ranges::find(names, parameter.name) == names.end()) {
        names.push_back(parameter.name);
      }
    }
  }
  return names;
}

template <typename Get>
std::vector<std::invoke_result_t<Get, const StudyRow&>> of_rows(const StudyRows& rows, Get get) {
  std::vector<std::invoke_result_t<Get, const StudyRow&>> values;
  std::ranges::transform(rows.rows, std::back_inserter(values), get);
  return values;
}

template <auto kMember>
std::optional<double> fact_of(const StudyRow& row) {
  return row.result->facts ? std::optional(static_cast<double>((*row.result->facts).*kMember))
                           : std::nullopt;
}

std::optional<double> smem_kib_of(const StudyRow& row) {
  constexpr double kBytesPerKib = 1024.0;
  return row.result->facts
             ? std::optional(static_cast<double>(row.result->dynamic_smem_bytes) / kBytesPerKib)
             : std::nullopt;
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
      of_rows(rows,
              [&](const StudyRow& row) {
                const Problem& problem = row.problem->problem;
                return std::optional(alike ? std::to_string(problem.seq_len) : describe(problem));
              }),
      {}};
}

std::vector<AxisOfRows> all_axes(const StudyReport& report, const StudyRows& rows) {
  using Text = std::optional<std::string>;
  std::vector<AxisOfRows> axes;
  axes.push_back(
      {"run", of_rows(rows, [&](const StudyRow& r) { return Text(run_name(report, r)); }), {}});
  axes.push_back(problem_axis(rows));
  for (const std::string& name : parameters_in(rows)) {
    axes.push_back(
        {name,
         of_rows(rows, [&](const StudyRow& r) { return parameter_text(*r.result, name); }),
         {}});
  }
  axes.push_back({"registers", {}, of_rows(rows, fact_of<&ResourceFacts::registers_per_thread>)});
  axes.push_back({"spill bytes", {}, of_rows(rows, fact_of<&ResourceFacts::spill_load_bytes>)});
  axes.push_back({"smem KiB", {}, of_rows(rows, smem_kib_of)});
  axes.push_back({"slower %", {}, of_rows(rows, [](const StudyRow& r) {
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
  StudyRows some;
  std::ranges::copy_if(rows.rows, std::back_inserter(some.rows),
                       [&](const StudyRow& row) { return row.result->config.family == family; });
  return some;
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
