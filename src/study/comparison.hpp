#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "report/report.hpp"
#include "study/run_movement.hpp"

// How a run differs from an earlier one: plain data (docs/compare.md).
namespace fatune {

/// What became of a configuration, the most telling first.
enum class Change {
  wrong,      ///< it had a time and has failed since
  slower,     ///< beyond doubt, than the drift explains
  faster,     ///< likewise
  repaired,   ///< it had failed and has a time
  undecided,  ///< the samples and the runs' movement do not tell
  equal,      ///< the whole interval is within the tolerance
  gone,       ///< only OLD has it
  added,      ///< only NEW has it
  failing,    ///< failed in both
};

/// Why a configuration that has times in both runs is undecided.
enum class ChangeDoubt {
  none,
  not_comparable,  ///< the times are of different GPU models, or were not measured
  reused,          ///< one of the times was taken from an earlier run
  all_moved,       ///< it moved as all others did, by more than the tolerance
  few_shared,      ///< too few configurations are in both runs to tell its change from the drift
  wide_interval,   ///< its change is not known to within the tolerance
};

struct ComparedConfig {
  std::size_t problem = 0;  ///< number of its ComparedProblem
  std::string config;       ///< short form
  std::string family;
  Change change = Change::undecided;
  ChangeDoubt doubt = ChangeDoubt::none;
  bool beyond_tolerance = false;  ///< slower by more than the tolerance, beyond doubt
  int old_rank = 0;               ///< 0: none
  int new_rank = 0;
  std::optional<double> old_us;
  std::optional<double> new_us;
  /// Of the logarithm of its time, without the drift; absent: not both have measured it.
  std::optional<ChangeBeyondDrift> beyond;
  std::string failure;  ///< in NEW, else in OLD; empty: none
};

/// What became of a problem's winner.
enum class WinnerChange {
  same,     ///< NEW has the same winner
  tied,     ///< another one, but in OLD or in NEW the two cannot be told apart
  changed,  ///< another one
  unknown,  ///< one of the runs ranked nothing
};

struct ComparedProblem {
  Problem problem;
  int run = 1;             ///< which repetition
  std::size_t shared = 0;  ///< configurations that both have measured
  Movement movement;
  WinnerChange winner = WinnerChange::unknown;
  std::string old_winner;  ///< short form; empty: none
  std::string new_winner;
  std::optional<double> old_us;      ///< of the winner then
  std::optional<double> new_us;      ///< of the winner now
  std::optional<double> old_sm_mhz;  ///< median of the SM clock
  std::optional<double> new_sm_mhz;
  std::optional<double> old_temperature_c;  ///< the highest
  std::optional<double> new_temperature_c;
};

/// One of the two runs.
struct ComparedRun {
  std::string name;      ///< as the user knows it: a file, "run 12"
  bool is_part = false;  ///< what it lacks may have been measured: a file of winners, a stopped run
  RunReport report;
};

/// Why times are shown and not judged.
enum class Refusal {
  none,
  other_device,  ///< the runs are of different GPU models
  not_measured,  ///< a run's times are estimates
};

struct RunComparison {
  double tolerance_percent = 0.0;
  Refusal refusal = Refusal::none;
  Movement movement;  ///< of all configurations of all problems
  std::vector<ComparedProblem> problems;
  std::vector<ComparedConfig> configs;  ///< by change, then the greatest first
  std::size_t problems_of_one = 0;      ///< that only one of the runs has
};

struct ComparePolicy {
  double tolerance_percent = 2.0;
  double confidence = 0.95;   ///< of all verdicts together
  bool winners_only = false;  ///< judge configurations that won a problem in either run
};

/// Compares what two runs measured, problem by problem. A configuration is the same when family and
/// short form are. Audited configurations, those that rules dropped and `--cover` races are left
/// out; so is what a run lacks that is part of one. The reports must outlive nothing.
[[nodiscard]] RunComparison compare_runs(const ComparedRun& old_run, const ComparedRun& new_run,
                                         const ComparePolicy& policy);

/// Whether NEW is worse beyond doubt: a configuration is slower by more than the tolerance, or
/// wrong. False where the runs were not to be judged.
[[nodiscard]] bool is_worse(const RunComparison& comparison);
[[nodiscard]] bool is_worse(const RunComparison& comparison, const ComparedConfig& config);

/// 100 * (new / old - 1) of a logarithm of that ratio.
[[nodiscard]] double percent_of(double log_ratio);

}  // namespace fatune
