#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace fatune {

/// How a command prints its result (--format table|json|jsonl|csv|md).
enum class OutputFormat { table, json, json_lines, csv, markdown };

/// Selects which of a command's records are printed, and how (docs/tables.md).
struct TableView {
  std::vector<std::string> columns{};  ///< names, in the order wanted; empty: all
  std::string sort{};                  ///< name of a column; empty: in the order of the records
  bool descending = false;
  std::size_t top = 0;   ///< records that a terminal shows; 0: all
  std::string filter{};  ///< an expression that is true for the records to print; empty: all

  [[nodiscard]] bool is_set() const { return !columns.empty() || !sort.empty() || !filter.empty(); }
};

/// The formats that `report` writes.
enum class ReportFormat {
  html,  ///< one page with everything
  svg,   ///< single figures
};

}  // namespace fatune
