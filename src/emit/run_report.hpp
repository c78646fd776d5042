#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/output_format.hpp"
#include "report/report.hpp"

namespace fatune {

struct PrintOptions {
  OutputFormat format = OutputFormat::table;
  bool colour = false;      ///< ANSI colours; tables only
  std::size_t top = 10;     ///< rows per problem in tables; 0: all. Other formats print all
  std::size_t columns = 0;  ///< Page::columns
};

/// The report in the chosen format; ends with a line break. A table of an unmeasured report says
/// so in its first and last line; every format says `measured`.
[[nodiscard]] std::string print_run_report(const RunReport& report, const PrintOptions& options);

/// Reports of several GPU models in one document: JSON by configs/schema/runs.schema.json, or a CSV
/// with one heading. Precondition: `format` is one of these.
[[nodiscard]] std::string print_run_reports(const std::vector<RunReport>& reports,
                                            OutputFormat format);

/// results.json (configs/schema/results.schema.json): everything, samples included.
[[nodiscard]] std::string results_json(const RunReport& report);
/// results.csv: one row per configuration and problem, failures included, RFC 4180.
[[nodiscard]] std::string results_csv(const RunReport& report);
/// best_configs.json (configs/schema/best_configs.schema.json): per GPU and problem the winner and
/// its runners-up.
[[nodiscard]] std::string best_configs_json(const RunReport& report);

}  // namespace fatune
