#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "emit/document/document.hpp"
#include "report/report.hpp"
#include "study/others.hpp"

namespace fatune {

/// A run's results. For people, the winners come first, then the first `top` of each ranking (0:
/// all) and the reasons of failures; other formats have everything. For people, an unmeasured
/// report says so in its first and last line; every format has `measured`. `peers`: how the winners
/// that fatune ships for the run's GPU model did beside others; absent: not known.
[[nodiscard]] Document run_document(const RunReport& report, std::size_t top = 0,
                                    const std::optional<PeerStudy>& peers = {});

/// The verdicts on winners that a run was for: for people and in CSV they alone, in JSON the run.
/// Precondition: the report has a gate.
[[nodiscard]] Document gate_document(const RunReport& report);

/// The results of runs on several GPU models: JSON by configs/schema/runs.schema.json, or CSV with
/// a single heading.
[[nodiscard]] Document runs_document(const std::vector<RunReport>& reports, std::size_t top = 0);

/// One outcome as a line of JSON, with the columns of its record in CSV (schema `outcome`).
[[nodiscard]] std::string outcome_line(const RunReport& run, const ProblemReport& problem,
                                       const Result& result);
/// The whole run as a line of JSON.
[[nodiscard]] std::string results_line(const RunReport& report);
/// results.json (configs/schema/results.schema.json): everything, samples included.
[[nodiscard]] std::string results_json(const RunReport& report);
/// results.csv: one row per configuration and problem, failures included, RFC 4180.
[[nodiscard]] std::string results_csv(const RunReport& report);
/// best_configs.json: results.json with the winner and the next four of each problem alone.
[[nodiscard]] std::string best_configs_json(const RunReport& report);

}  // namespace fatune
