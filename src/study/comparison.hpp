#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "report/report.hpp"
#include "report/verdict.hpp"
#include "study/run_movement.hpp"

// The differences between a run and an earlier one, as plain data (docs/compare.md).
namespace fatune {

/// How a problem's winner changed.
enum class WinnerChange {
  same,     ///< NEW has the same winner
  tied,     ///< another one, but in OLD or in NEW the two cannot be told apart
  changed,  ///< another one
  unknown,  ///< one of the runs ranked nothing
};

struct ComparedProblem {
  Problem problem;
  int run = 1;             ///< number of the repetition
  std::size_t shared = 0;  ///< configurations that both have measured
  Movement movement;
  WinnerChange winner = WinnerChange::unknown;
  std::string old_winner;  ///< short form; empty: none
  std::string new_winner;
  std::optional<double> old_us;      ///< time of the OLD winner
  std::optional<double> new_us;      ///< time of the NEW winner
  std::optional<double> old_sm_mhz;  ///< median of the SM clock
  std::optional<double> new_sm_mhz;
  std::optional<double> old_temperature_c;  ///< the highest
  std::optional<double> new_temperature_c;
};

/// One of the two runs.
struct ComparedRun {
  std::string name;      ///< as the user knows it: a file, "run 12"
  bool is_part = false;  ///< may lack results: a file of winners, a stopped run
  RunReport report;
};

struct RunComparison {
  double tolerance_percent = kTolerancePercent;
  Doubt refusal = Doubt::none;  ///< why times are shown and not judged; none: they are judged
  Movement movement;            ///< of all configurations of all problems
  std::vector<ComparedProblem> problems;
  std::vector<RivalCheck> checks;        ///< by verdict, then by size, greatest first
  std::vector<ComparedProblem> missing;  ///< problems that only OLD has: their names alone
  std::size_t added_problems = 0;        ///< problems that only NEW has
};

struct ComparePolicy {
  double tolerance_percent = kTolerancePercent;
  double confidence = 0.95;   ///< of all verdicts together
  bool winners_only = false;  ///< judge only configurations that won a problem in either run
};

/// Compares what two runs measured, problem by problem. Configurations are the same if family and
/// short form are equal. Audited configurations, those that rules dropped and `--cover` races are
/// left out. So are configurations that a partial run lacks. If times cannot be judged, nothing is
/// worse. The reports need not outlive the result.
[[nodiscard]] RunComparison compare_runs(const ComparedRun& old_run, const ComparedRun& new_run,
                                         const ComparePolicy& policy);

/// What two runs were made with and that is known to differ, with its old and new value: "driver:
/// 580.95.05, now 580.159.04".
[[nodiscard]] std::vector<std::string> differences(const RunReport& before, const RunReport& after);

/// Converts a logarithm of the ratio new / old to 100 * (new / old - 1).
[[nodiscard]] double percent_of(double log_ratio);

}  // namespace fatune
