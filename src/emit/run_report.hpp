#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "emit/document/document.hpp"
#include "report/report.hpp"

namespace fatune {

/// A run's results: of each problem a terminal shows the first `top` (0: all), other formats show
/// all. What people read of an unmeasured report says so in its first and last line; every format
/// says `measured`.
[[nodiscard]] Document run_document(const RunReport& report, std::size_t top = 0);

/// The same of several GPU models: JSON by configs/schema/runs.schema.json, or a CSV with one
/// heading.
[[nodiscard]] Document runs_document(const std::vector<RunReport>& reports, std::size_t top = 0);

/// results.json (configs/schema/results.schema.json): everything, samples included.
/// One outcome in a line of JSON: the columns of its record in CSV (schema `outcome`).
[[nodiscard]] std::string outcome_line(const RunReport& run, const ProblemReport& problem,
                                       const Result& result);
/// The whole run in a line.
[[nodiscard]] std::string results_line(const RunReport& report);
[[nodiscard]] std::string results_json(const RunReport& report);
/// results.csv: one row per configuration and problem, failures included, RFC 4180.
[[nodiscard]] std::string results_csv(const RunReport& report);
/// best_configs.json (configs/schema/best_configs.schema.json): per GPU and problem the winner and
/// its runners-up.
[[nodiscard]] std::string best_configs_json(const RunReport& report);

}  // namespace fatune
