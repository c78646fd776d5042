#pragma once

#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "model/report.hpp"
#include "model/verdict.hpp"

// Pure functions that judge changes of time between two separate runs. Changes are logarithms of
// ratios, NEW over OLD (docs/compare.md).
namespace fatune {

/// The variation of the samples of a problem's configurations within one run.
struct RunNoise {
  double sample_sd = 0.0;  ///< relative standard deviation of a sample, median of configurations
  /// The correlation of a sample's logarithm with that of the same configuration's next sample,
  /// over all configurations with enough samples, 0 or more. At a power limit a kernel keeps one
  /// speed for a while, and consecutive samples are worth less than independent ones.
  double correlation = 0.0;
};

[[nodiscard]] RunNoise noise_of(const ProblemReport& problem);

/// The standard deviation of the logarithm of a result's median: the greater of that of its
/// interval, which assumes independent samples, and that of n (1 - correlation) / (1 + correlation)
/// independent samples. If the samples were not kept, its interval alone is used, if there is one.
/// 0 without a measured time.
/// Source: the variance of the mean of an AR(1) process; G. E. P. Box, G. M. Jenkins and
/// G. C. Reinsel, Time Series Analysis, 4th ed. (2008), section 2.1.
[[nodiscard]] double median_sd(const Result& result, const RunNoise& noise);

/// The change of a configuration's time on one problem.
struct TimeChange {
  double log_ratio = 0.0;
  double within_sd = 0.0;   ///< its standard deviation, as far as both runs' samples show it
  std::size_t group = 0;    ///< number of its problem, from 0
  bool is_measured = true;  ///< false: a copy of another's time, which tells nothing about the runs
};

/// The common movement of a problem's configurations, and their spread around it.
struct Movement {
  double log_drift = 0.0;
  double spread = 0.0;           ///< standard deviation of log ratios beyond drift and samples
  std::size_t changes = 0;       ///< number of changes that these were computed from
  bool spread_is_usual = false;  ///< too few changes to estimate it: kUsualSpread
};

/// The least number of changes from which the spread can be estimated.
inline constexpr std::size_t kLeastForSpread = 8;
/// The least number of changes among which one can be told from the drift.
inline constexpr std::size_t kLeastForDrift = 3;
/// The spread if it cannot be estimated: that of 652 configurations that two sweeps of an H200 at
/// its power limit had in common.
inline constexpr double kUsualSpread = 0.03;
/// The least spread: two runs never agree better than that.
inline constexpr double kLeastSpread = 0.003;

/// Standard deviation of the sum of two independent variables. std::hypot would need glibc 2.35,
/// and packages promise 2.34.
[[nodiscard]] inline double joint_sd(double a, double b) { return std::sqrt(a * a + b * b); }

/// Returns one movement for each group, from its measured changes. The drift is the median of their
/// log ratios. The spread is the least for which the median of |residual| / sqrt(spread^2 +
/// within_sd^2) is that of a normal distribution, both over all changes and over the
/// kLeastForSpread ones with the least within_sd: a race takes most of its samples in the end, when
/// the chip may have another clock than when it took those of the losers.
[[nodiscard]] std::vector<Movement> movements_of(const std::vector<TimeChange>& changes,
                                                 std::size_t groups);
/// The movement of all changes as one group.
[[nodiscard]] Movement common_movement(std::vector<TimeChange> changes);

/// A change less the drift, with its interval. The intervals of all changes hold together, with the
/// requested confidence.
struct ChangeBeyondDrift {
  double log_ratio = 0.0;
  double low = 0.0;
  double high = 0.0;
};

/// Returns one entry for each change, by Holm's procedure over all of them. An interval without
/// zero is a change beyond doubt. If the spread was estimated, quantiles are Student's. They have
/// half of `changes` - 1 degrees of freedom, because a spread from medians is known less well than
/// one from squares, and at most 10, because some configurations stray further than normal
/// variables do. Otherwise, quantiles are normal. Among fewer than kLeastForDrift changes, every
/// interval contains zero.
/// Source: S. Holm, A simple sequentially rejective multiple test procedure, Scand. J. Statist. 6
/// (1979); the quantile: D. L. Wallace, Bounds on normal approximations to Student's and the
/// chi-square distributions, Ann. Math. Statist. 30 (1959).
[[nodiscard]] std::vector<ChangeBeyondDrift> beyond_drift(const std::vector<TimeChange>& changes,
                                                          const std::vector<Movement>& movements,
                                                          double confidence);

// The differences between a run and an earlier one, as plain data (docs/compare.md).

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
  std::optional<double> calls;       ///< by the workload of NEW, or else of OLD; absent: none
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
