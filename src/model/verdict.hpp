#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/enum_names.hpp"
#include "model/measure_policy.hpp"
#include "model/problem.hpp"

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
template <>
inline constexpr EnumNames<kVerdicts> kEnumNames<Verdict>{
    "verdict",
    {"failed", "slower", "faster", "repaired", "undecided", "equal", "gone", "added", "failing"}};

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
template <>
inline constexpr EnumNames<kDoubts> kEnumNames<Doubt>{
    "doubt",
    {"", "both times are of one run", "the times are of different GPU models",
     "a time is an estimate", "a time is from an earlier run",
     "too few configurations are in both runs", "moved as all others did",
     "the interval is too wide", "too few samples",
     "the run or its budget ended before this was measured"}};

/// By how many percent something is slower than its rival, with a confidence interval; negative:
/// faster.
struct SlowerBy {
  double percent = 0.0;
  double least = 0.0;
  double greatest = 0.0;
};
FATUNE_DESCRIBED(
    SlowerBy,
    (percent, Key{"slower_percent"},
     "by how many percent the configuration is slower than its rival, without the drift between "
     "two runs; negative: faster; null: not both were measured"),
    (least, Key{"least_percent"},
     "lower end of the confidence interval of slower_percent; the intervals of all checks hold "
     "together if they compare two runs"),
    (greatest, Key{"greatest_percent"}, "upper end of the confidence interval of slower_percent"))

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
  int run = 1;
  std::string family;
  std::string config;
  std::string rival;
  Verdict verdict = Verdict::undecided;
  Doubt doubt = Doubt::none;
  std::optional<SlowerBy> slower_by;
  std::optional<double> time_us;
  std::optional<double> rival_us;
  int rank = 0;
  int rival_rank = 0;
  std::size_t rounds = 0;
  std::optional<double> file_us;
  std::optional<double> since_file_percent;
  std::string why;
};
FATUNE_DESCRIBED(
    RivalCheck, (problem, "the problem that was measured"),
    (run, "number of the repetition of the measurement, from 1"),
    (family, kOrNull, "the configuration's kernel family; null: nothing was ranked"),
    (config, kOrNull,
     "the configuration's short form, with the version of other sources; null: nothing was ranked"),
    (rival, kOrNull,
     "short form of the rival, with the version of other sources; null: there is none, or it is "
     "the same configuration in the earlier run"),
    (verdict,
     "whether the configuration is slower than its rival: failed: it has no time, and its rival "
     "has; slower, faster: by more than the tolerance, beyond doubt; repaired: it has a time, and "
     "its rival failed; undecided: the measurements do not tell; equal: the whole interval is "
     "within the tolerance, or both are the same; gone: only its rival was tried; added: it was "
     "tried, and there is no rival; failing: both failed"),
    (doubt, kOrNull, "why the verdict is undecided; null: it is decided"), (slower_by, kFlat),
    (time_us, "median time of the configuration in microseconds; null: none"),
    (rival_us, "median time of the rival in microseconds; null: none"),
    (rank, kOrNull, "rank of the configuration in its run; null: none"),
    (rival_rank, kOrNull, "rank of the configuration in the earlier run; null: none"),
    (rounds, kOrNull,
     "number of rounds of a duel in which both gave a sample; null: there was no duel"),
    (file_us,
     "median time, in the file, of the winner that the file names, in microseconds; null: not "
     "known"),
    (since_file_percent,
     "by how many percent that winner is slower than in the file; heat may explain it, no verdict "
     "rests on it"),
    (why, kOrNull, "a failure, or what else explains the verdict; null: nothing"))

/// Whether it is slower than its rival by more than the tolerance, or fails where the rival does
/// not.
[[nodiscard]] bool is_worse(const RivalCheck& check);
[[nodiscard]] bool is_worse(const std::vector<RivalCheck>& checks);

/// Winners, compared with others in duels (docs/gate.md).
struct GateReport {
  std::string of;
  std::string against;
  double tolerance_percent = kTolerancePercent;
  std::vector<std::string> differences{};
  std::vector<RivalCheck> checks{};
};
FATUNE_DESCRIBED(
    GateReport, (of, kOrNull, "the file whose winners these are; null: they are this run's"),
    (against,
     "what the winners were raced against: the file, the sources, or both, as the user named them; "
     "or this run's winners"),
    (tolerance_percent, "percentage up to which times count as equal"),
    (differences, "what the file's run and this one were made with and that differs"),
    (checks, "one entry for each problem"))

}  // namespace fatune
