#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

// What two separate runs say about a change of time: pure functions on logarithms of ratios, NEW
// over OLD (docs/compare.md).
namespace fatune {

/// How a configuration's time changed on one problem.
struct TimeChange {
  double log_ratio = 0.0;
  double within_sd = 0.0;   ///< standard deviation of it, as far as both runs' samples show it
  std::size_t group = 0;    ///< number of its problem, from 0
  bool is_measured = true;  ///< false: a copy of another's time, which says nothing of the runs
};

/// How the configurations of a problem moved together, and how far apart they still are.
struct Movement {
  double log_drift = 0.0;
  double spread = 0.0;           ///< standard deviation of log ratios beyond drift and samples
  std::size_t changes = 0;       ///< from which these were computed
  bool spread_is_usual = false;  ///< too few changes to estimate it: kUsualSpread
};

/// Changes that the spread can be estimated from, at least.
inline constexpr std::size_t kLeastForSpread = 8;
/// Changes of which one can be told from all of them, at least.
inline constexpr std::size_t kLeastForDrift = 3;
/// The spread where it cannot be estimated: that of 652 configurations that two sweeps of an H200
/// at its power limit had in common.
inline constexpr double kUsualSpread = 0.03;
/// The least spread: two runs never agree better than that.
inline constexpr double kLeastSpread = 0.003;

/// Standard deviation of the sum of two independent variables. Written out: std::hypot would need
/// glibc 2.35, and packages promise 2.34.
[[nodiscard]] inline double joint_sd(double a, double b) { return std::sqrt(a * a + b * b); }

/// One for each group, from the measured ones of its changes. The drift is the median of their log
/// ratios. The spread is the least that makes the median of |residual| / sqrt(spread^2 +
/// within_sd^2) that of a normal distribution, of all and of the kLeastForSpread with the least
/// within_sd alone: a race takes most of its samples in the end, when the chip may have another
/// clock than when it took those of the losers.
[[nodiscard]] std::vector<Movement> movements_of(const std::vector<TimeChange>& changes,
                                                 std::size_t groups);
/// The same of all changes as one group.
[[nodiscard]] Movement common_movement(std::vector<TimeChange> changes);

/// A change less the drift, with its interval. The intervals of all changes hold together, with the
/// confidence that was asked for.
struct ChangeBeyondDrift {
  double log_ratio = 0.0;
  double low = 0.0;
  double high = 0.0;
};

/// One for each change, by Holm's procedure over all of them: an interval without zero is a change
/// beyond doubt. Where the spread was estimated, quantiles are Student's with half of `changes` - 1
/// degrees of freedom, for a spread by medians is known less well than one by squares, and with 10
/// at most, for some configurations stray further than normal variables do; else they are normal
/// ones. Among fewer than kLeastForDrift changes, every interval has zero.
/// Source: S. Holm, A simple sequentially rejective multiple test procedure, Scand. J. Statist. 6
/// (1979); the quantile: D. L. Wallace, Bounds on normal approximations to Student's and the
/// chi-square distributions, Ann. Math. Statist. 30 (1959).
[[nodiscard]] std::vector<ChangeBeyondDrift> beyond_drift(const std::vector<TimeChange>& changes,
                                                          const std::vector<Movement>& movements,
                                                          double confidence);

}  // namespace fatune
