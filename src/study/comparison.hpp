#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "report/report.hpp"
#include "study/run_movement.hpp"

// The differences between a run and an earlier one, as plain data (docs/compare.md).
namespace fatune {

/// How a configuration changed, most important first.
enum class Change {
  wrong,      ///< it has a time in OLD and fails in NEW
  slower,     ///< beyond doubt slower than the drift explains
  faster,     ///< beyond doubt faster than the drift explains
  repaired,   ///< it fails in OLD and has a time in NEW
  undecided,  ///< see ChangeDoubt
  equal,      ///< the whole interval is within the tolerance
  gone,       ///< only OLD has it
  added,      ///< only NEW has it
  failing,    ///< it fails in both
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
  std::size_t problem = 0;  ///< index of its ComparedProblem
  std::string config;       ///< short form
  std::string family;
  Change change = Change::undecided;
  ChangeDoubt doubt = ChangeDoubt::none;
  bool beyond_tolerance = false;  ///< slower by more than the tolerance, beyond doubt
  int old_rank = 0;               ///< 0: none
  int new_rank = 0;
  std::optional<double> old_us;
  std::optional<double> new_us;
  /// The change of its time's logarithm, without the drift. Absent: not measured in both runs.
  std::optional<ChangeBeyondDrift> beyond;
  std::string failure;  ///< in NEW, else in OLD; empty: none
};

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

/// The reason why times are shown and not judged.
enum class Refusal {
  none,
  same_run,      ///< both are the same run
  other_device,  ///< the runs are of different GPU models
  not_measured,  ///< a run's times are estimates
};

struct RunComparison {
  double tolerance_percent = 0.0;
  Refusal refusal = Refusal::none;
  Movement movement;  ///< of all configurations of all problems
  std::vector<ComparedProblem> problems;
  std::vector<ComparedConfig> configs;   ///< by change, then by size, greatest first
  std::vector<ComparedProblem> missing;  ///< problems that only OLD has: their names alone
  std::size_t added_problems = 0;        ///< problems that only NEW has
};

struct ComparePolicy {
  double tolerance_percent = 2.0;
  double confidence = 0.95;   ///< of all verdicts together
  bool winners_only = false;  ///< judge only configurations that won a problem in either run
};

/// Compares what two runs measured, problem by problem. Configurations are the same if family and
/// short form are equal. Audited configurations, those that rules dropped and `--cover` races are
/// left out. So are configurations that a partial run lacks. The reports need not outlive the
/// result.
[[nodiscard]] RunComparison compare_runs(const ComparedRun& old_run, const ComparedRun& new_run,
                                         const ComparePolicy& policy);

/// Whether NEW is worse beyond doubt: a configuration is slower by more than the tolerance, or
/// wrong. False if the runs could not be judged.
[[nodiscard]] bool is_worse(const RunComparison& comparison);
[[nodiscard]] bool is_worse(const RunComparison& comparison, const ComparedConfig& config);

/// Converts a logarithm of the ratio new / old to 100 * (new / old - 1).
[[nodiscard]] double percent_of(double log_ratio);

}  // namespace fatune
