#include "counters/nsys_summary.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <utility>

#include <fmt/format.h>

#include "core/error.hpp"
#include "core/text_parts.hpp"
#include "counters/csv.hpp"

namespace fatune {
namespace {

constexpr double kNsPerUs = 1000.0;

/// The table from its header on; empty without one.
std::string_view table_of(std::string_view text) {
  while (!text.empty()) {
    const std::string_view table = text;
    const std::string_view line = take_until(text, '\n');
    if (line.find("Instances") != std::string_view::npos &&
        line.find("Total Time") != std::string_view::npos) {
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
      const auto found = std::ranges::find(header_, heading);
      if (found != header_.end()) {
        return static_cast<std::size_t>(found - header_.begin());
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

std::vector<TimelineItem> read_nsys_summary(std::string_view text, const std::string& source) {
  const std::vector<CsvRow> rows = read_csv(table_of(text), source);
  if (rows.empty()) {
    return {};
  }
  const SummaryReader reader(rows.front(), source);
  std::vector<TimelineItem> items;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    items.push_back(reader.read(rows[i]));
  }
  return items;
}

}  // namespace fatune
