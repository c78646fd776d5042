#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "attention/problem.hpp"
#include "core/measure_policy.hpp"

// One question: is this slower than that, beyond doubt and tolerance? `sweep --against`,
// `verify-winner` and `compare` ask it (docs/verdicts.md).
namespace fatune {

/// The difference up to which times count as equal, in percent, unless the user names another. A
/// race measures the median of its winner to within this (MeasurePolicy::target_ci), so among
/// configurations that are closer together, a sweep chooses by chance.
inline constexpr double kTolerancePercent = 100.0 * MeasurePolicy{}.target_ci;

/// The verdict on a configuration that is compared with its rival: another configuration, or itself
/// in an earlier run. In the order in which people want to see them.
enum class Verdict {
  failed,     ///< it has no time, and its rival has
  slower,     ///< by more than the tolerance, beyond doubt
  faster,     ///< by more than the tolerance, beyond doubt
  repaired,   ///< it has a time, and its rival failed
  undecided,  ///< Doubt says why
  equal,      ///< the whole interval is within the tolerance, or both are the same
  gone,       ///< only its rival was tried
  added,      ///< it was tried, and there is no rival
  failing,    ///< both failed
};
inline constexpr std::size_t kVerdicts = 9;

/// Why a verdict is undecided.
enum class Doubt {
  none,           ///< it is decided
  same_run,       ///< both times are of one run
  other_device,   ///< the times are of different GPU models
  not_measured,   ///< a time is an estimate
  reused,         ///< a time was taken from an earlier run
  few_shared,     ///< too few configurations are in both runs to tell its change from the drift
  all_moved,      ///< it moved as all others did, by more than the tolerance
  wide_interval,  ///< the interval is not on one side of the tolerance
  few_samples,    ///< there are too few samples for an interval
  stopped,        ///< the run, or its budget, ended before it was measured
};
inline constexpr std::size_t kDoubts = 10;

/// By how many percent something is slower than its rival, with a confidence interval; negative:
/// faster.
struct SlowerBy {
  double percent = 0.0;
  double least = 0.0;
  double greatest = 0.0;
};

/// Returns slower, faster or equal if the whole interval is beyond the tolerance or within it, else
/// undecided. The tolerance holds for the ratio of the longer time to the shorter.
[[nodiscard]] Verdict verdict_of(const SlowerBy& interval, double tolerance_percent);

/// What is known of one of the two.
enum class TrialEnd { untried, failed, timed };
/// The verdict where one of the two has no time.
[[nodiscard]] Verdict verdict_of(TrialEnd end, TrialEnd rivals_end);

/// A configuration that is compared with its rival on a problem.
struct RivalCheck {
  Problem problem;
  int run = 1;         ///< number of the repetition
  std::string family;  ///< of `config`
  std::string config;  ///< short form, with the version of other sources; empty: nothing was ranked
  std::string rival;   ///< in the same form; empty: there is none, or it is `config` itself
  Verdict verdict = Verdict::undecided;
  Doubt doubt = Doubt::none;          ///< none unless the verdict is undecided
  std::optional<SlowerBy> slower_by;  ///< absent: not both have a time, or there is no interval
  std::optional<double> time_us;
  std::optional<double> rival_us;
  int rank = 0;  ///< in the run; 0: none
  int rival_rank = 0;
  std::size_t rounds = 0;         ///< rounds of a duel, in which both gave a sample; 0: none
  std::optional<double> file_us;  ///< time of a file's winner in the file, if it was measured
  std::optional<double> since_file_percent;  ///< by how much it is slower here
  std::string why;  ///< a failure, or what else explains the verdict; empty: nothing
};

/// Whether it is slower than its rival by more than the tolerance, or fails where the rival does
/// not.
[[nodiscard]] bool is_worse(const RivalCheck& check);
[[nodiscard]] bool is_worse(const std::vector<RivalCheck>& checks);

/// Winners, compared with others in duels (docs/gate.md).
struct GateReport {
  std::string of;       ///< the file whose winners they are; empty: they are this run's
  std::string against;  ///< the file, the sources, or both, as the user named them; or this run's
  double tolerance_percent = kTolerancePercent;
  std::vector<std::string> differences{};  ///< of the file's run from this one
  std::vector<RivalCheck> checks{};        ///< one for each problem
};

}  // namespace fatune
