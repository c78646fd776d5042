#include "inspect/counters/profiler_tables.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/csv.hpp"
#include "base/error.hpp"
#include "base/ranges.hpp"
#include "base/text_parts.hpp"
#include "inspect/counters/profiler_numbers.hpp"

namespace fatune {
namespace {

constexpr std::string_view kId = "ID";
constexpr std::string_view kKernel = "Kernel Name";
constexpr std::string_view kMetric = "Metric Name";
constexpr std::string_view kUnit = "Metric Unit";
constexpr std::string_view kValue = "Metric Value";

/// Labels of the details page. "Memory Throughput" is a rate in one section, a percentage in
/// another.
struct Label {
  std::string_view text;
  std::string_view unit;  ///< ending of the unit; empty: any
  std::string_view metric;
};

constexpr std::array<Label, 10> kLabels{{
    {"Duration", "", "gpu__time_duration.sum"},
    {"Elapsed Cycles", "", "sm__cycles_elapsed.max"},
    {"Registers Per Thread", "", "launch__registers_per_thread"},
    {"L2 Hit Rate", "", "lts__t_sector_hit_rate.pct"},
    {"L1/TEX Hit Rate", "", "l1tex__t_sector_hit_rate.pct"},
    {"Memory Throughput", "byte/s", "dram__bytes.sum.per_second"},
    {"Memory Throughput", "byte/second", "dram__bytes.sum.per_second"},
    {"Mem Busy", "", "gpu__compute_memory_access_throughput.avg.pct_of_peak_sustained_elapsed"},
    {"Max Bandwidth", "",
     "gpu__compute_memory_request_throughput.avg.pct_of_peak_sustained_elapsed"},
    {"Mem Pipes Busy", "", "sm__memory_throughput.avg.pct_of_peak_sustained_elapsed"},
}};

std::string metric_of_label(const std::string& name, std::string_view unit) {
  for (const Label& label : kLabels) {
    if (name == label.text && unit.ends_with(label.unit)) {
      return std::string(label.metric);
    }
  }
  return name;
}

/// The table from its header on, without the profiler's messages.
std::string table_of(std::string_view text, const std::string& source) {
  std::string table;
  bool found = false;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t to = std::min(text.find('\n', from), text.size() - 1) + 1;
    const std::string_view line = text.substr(from, to - from);
    found = found || line.starts_with("\"ID\",") || line.starts_with("ID,");
    if (found && !line.starts_with("==")) {
      table += line;
    }
    from = to;
  }
  if (!found) {
    throw Error(
        ExitCode::bad_file, "it contains no table from Nsight Compute", source,
        "the output of 'ncu --csv', also with '--page raw', has a row that begins with \"ID\"");
  }
  return table;
}

std::optional<std::size_t> column(const CsvRow& header, std::string_view name) {
  const auto found = std::ranges::find(header, name);
  return found == header.end() ? std::nullopt
                               : std::optional(static_cast<std::size_t>(found - header.begin()));
}

std::size_t need_column(const CsvRow& header, std::string_view name, const std::string& source) {
  const auto found = column(header, name);
  if (!found) {
    throw Error(ExitCode::bad_file, fmt::format("the table has no column '{}'", name), source);
  }
  return *found;
}

/// One value of a launch, as text.
struct Cell {
  std::string_view metric;
  std::string_view unit;
  std::string_view text;
};

struct Launch {
  std::string kernel_name;
  std::vector<Cell> cells;
};

/// The launches by their numbers.
using Launches = std::map<long, Launch>;

class Table {
 public:
  Table(const std::vector<CsvRow>& rows, const std::string& source)
      : rows_(rows), source_(source) {}

  [[nodiscard]] Launches launches() {
    const bool long_form = column(header(), kMetric).has_value();
    if (!long_form && rows_.size() < 2) {
      throw Error(ExitCode::bad_file, "the table ends before its units", source_);
    }
    for (std::size_t row = long_form ? 1 : 2; row < rows_.size(); ++row) {
      // A row of details may carry a rule's columns, or lack them.
      if (long_form) {
        add_metric(row);
      } else {
        add_launch(row);
      }
    }
    return std::move(launches_);
  }

 private:
  [[nodiscard]] const CsvRow& header() const { return rows_.front(); }

  [[noreturn]] void fail(const std::string& what, std::size_t row) const {
    throw Error(ExitCode::bad_file, what, fmt::format("{}, row {} of its table", source_, row + 1));
  }

  Launch& launch(std::size_t row) {
    const CsvRow& cells = rows_[row];
    if (cells.size() <= std::max(id_, kernel_)) {
      fail("the row is cut short", row);
    }
    const auto id = read_number(cells[id_]);
    constexpr double kMostLaunches = 1e9;
    if (!id || *id < 0 || *id > kMostLaunches) {
      fail(fmt::format("'{}' is not the number of a launch", cells[id_]), row);
    }
    Launch& launch = launches_[static_cast<long>(*id)];
    launch.kernel_name = cells[kernel_];
    return launch;
  }

  void add_launch(std::size_t row) {
    const CsvRow& cells = rows_[row];
    if (cells.size() != header().size() || rows_[1].size() != header().size()) {
      fail(fmt::format("it has {} cells instead of {}", cells.size(), header().size()), row);
    }
    Launch& one = launch(row);
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (header()[i].find("__") != std::string::npos) {
        one.cells.push_back({header()[i], rows_[1][i], cells[i]});
      }
    }
  }

  void add_metric(std::size_t row) {
    const std::size_t name = need_column(header(), kMetric, source_);
    const std::size_t unit = need_column(header(), kUnit, source_);
    const std::size_t value = need_column(header(), kValue, source_);
    const CsvRow& cells = rows_[row];
    if (cells.size() <= std::max({name, unit, value})) {
      fail("the row is cut short", row);
    }
    if (!cells[name].empty()) {
      launch(row).cells.push_back({cells[name], cells[unit], cells[value]});
    }
  }

  const std::vector<CsvRow>& rows_;
  const std::string& source_;
  std::size_t id_ = need_column(header(), kId, source_);
  std::size_t kernel_ = need_column(header(), kKernel, source_);
  Launches launches_;
};

ProfiledLaunch with_values(const Launch& launch, const std::string& source, bool is_c_locale) {
  ProfiledLaunch profiled{launch.kernel_name, {}};
  for (const Cell& cell : launch.cells) {
    if (!is_c_locale && is_of_other_locale(cell.text)) {
      throw Error(ExitCode::bad_file,
                  fmt::format("'{}' is not how numbers are written under LC_ALL=C", cell.text),
                  source, "run the profiler with LC_ALL=C");
    }
    if (const auto value = read_number(cell.text)) {
      profiled.counters.emplace(metric_of_label(std::string(cell.metric), cell.unit),
                                *value * base_unit_factor(cell.unit));
    }
  }
  return profiled;
}

constexpr double kNsPerUs = 1000.0;

/// The table from its header on; empty without one.
std::string_view table_of(std::string_view text) {
  while (!text.empty()) {
    const std::string_view table = text;
    const std::string_view line = take_until(text, '\n');
    if (contains(line, "Instances") && contains(line, "Total Time")) {
      return table;
    }
  }
  return {};
}

class SummaryReader {
 public:
  SummaryReader(CsvRow header, const std::string& source)
      : header_(std::move(header)), source_(source), name_(column({"Name", "Range"})) {}

  [[nodiscard]] TimelineItem read(const CsvRow& row) const {
    if (row.size() != header_.size()) {
      fail(fmt::format("a row of {} cells under {} headings", row.size(), header_.size()));
    }
    TimelineItem item;
    item.name = row[name_];
    // Ranges without a domain begin with the colon that follows a domain.
    item.name.erase(0, item.name.starts_with(':') ? 1 : 0);
    item.instances = std::llround(number(row, {"Instances"}));
    item.total_us = number(row, {"Total Time (ns)"}) / kNsPerUs;
    item.mean_us = number(row, {"Avg (ns)", "Average (ns)"}) / kNsPerUs;
    item.median_us = number(row, {"Med (ns)", "Median (ns)"}) / kNsPerUs;
    item.least_us = number(row, {"Min (ns)", "Minimum (ns)"}) / kNsPerUs;
    item.greatest_us = number(row, {"Max (ns)", "Maximum (ns)"}) / kNsPerUs;
    return item;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ExitCode::bad_file, what, source_,
                "expected the output of 'nsys stats --format csv'");
  }

  /// The column with the first of these headings that exists: versions differ.
  [[nodiscard]] std::size_t column(std::initializer_list<std::string_view> headings) const {
    for (const std::string_view heading : headings) {
      if (const auto found = fatune::column(header_, heading)) {
        return *found;
      }
    }
    fail(fmt::format("the table has no column '{}'", *headings.begin()));
  }

  [[nodiscard]] double number(const CsvRow& row,
                              std::initializer_list<std::string_view> headings) const {
    const std::string& cell = row[column(headings)];
    const auto value = read_number(cell);
    if (!value || !std::isfinite(*value) || std::abs(*value) > 1e18) {
      fail(fmt::format("'{}' in column '{}' is not a number", cell, *headings.begin()));
    }
    return *value;
  }

  CsvRow header_;
  const std::string& source_;
  std::size_t name_;
};

}  // namespace

std::vector<ProfiledLaunch> read_ncu_csv(std::string_view text, const std::string& source,
                                         bool is_c_locale) {
  const std::vector<CsvRow> rows = read_csv(table_of(text, source), source);
  return mapped(Table(rows, source).launches(), [&](const auto& launch) {
    return with_values(launch.second, source, is_c_locale);
  });
}

std::vector<TimelineItem> read_nsys_summary(std::string_view text, const std::string& source) {
  const std::vector<CsvRow> rows = read_csv(table_of(text), source);
  if (rows.empty()) {
    return {};
  }
  const SummaryReader reader(rows.front(), source);
  return mapped(std::span(rows).subspan(1), [&](const CsvRow& row) { return reader.read(row); });
}

}  // namespace fatune
