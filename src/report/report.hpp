#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "attention/problem.hpp"
#include "core/config.hpp"
#include "core/device_limits.hpp"
#include "core/gpu_reading.hpp"
#include "core/kernel_code.hpp"
#include "core/matmul_rate.hpp"
#include "core/measure_policy.hpp"
#include "core/named_value.hpp"
#include "core/outcome.hpp"
#include "core/source_hashes.hpp"
#include "core/statistics.hpp"
#include "core/stop_reason.hpp"
#include "report/common_choice.hpp"
#include "report/gate.hpp"
#include "report/shard.hpp"

namespace fatune {

/// One configuration on one problem, with everything known about it.
struct Result {
  Config config;
  std::string short_form;
  std::string kernel_name;  ///< as a profiler prints it; empty where the family has no such form
  std::vector<NamedValue> parameters;
  std::optional<ResourceFacts> facts;  ///< absent when it was never compiled
  std::int64_t dynamic_smem_bytes = 0;
  int threads_per_block = 0;
  int blocks_per_sm = 0;  ///< from the facts and the device's limits
  double compile_ms = 0.0;
  bool from_cache = false;
  std::string artifact_key;
  std::optional<double> total_flop;  ///< the family's own count, softmax included
  Outcome outcome;
  bool reused = false;  ///< the outcome was taken from an earlier run (docs/store.md)
  /// Short form of the configuration that the outcome was taken from because both have the same
  /// machine code and launch; empty: its own outcome.
  std::string same_code_as;
  std::string pruned_by;      ///< rule that dropped it before an audit tried it; empty: none
  std::string proposed_by;    ///< strategy that chose to try it (docs/search.md); empty: not known
  std::int64_t proposal = 0;  ///< its place among the proposals for the problem; 0: not known

  // Filled by rank/.
  int rank = 0;                   ///< 1 is best; 0: not ranked
  int tie_group = 0;              ///< results of one group cannot be told apart from its first
  double relative_percent = 0.0;  ///< 100 * baseline / this; the baseline is the best unless chosen
  /// The interval of the median ratio of its time to the fastest one's, over pairs of samples that
  /// a race took in succession. Absent: it is the fastest, there are too few pairs, or the report
  /// was read from a store.
  std::optional<MedianInterval> to_fastest{};
};

/// The value of Result::proposed_by if all configurations of a problem are tried.
inline constexpr const char* kTriesAll = "exhaustive";

/// Finds the result of a configuration. Returns null if there is none.
[[nodiscard]] const Result* find_result(const std::vector<Result>& results, const Config& config);

/// How the samples of a problem were taken (docs/racing.md).
struct MeasuringSummary {
  StopReason stopped_because = StopReason::not_yet;
  int rounds = 0;
  int final_rounds = 0;
  std::int64_t samples_taken = 0;    ///< retaken ones included
  std::int64_t samples_retaken = 0;  ///< discarded: throttled, or the round's sentinel was off
  std::string sentinel;              ///< short form of the configuration in every round
  double drift_percent = 0.0;        ///< of the sentinel, from the first quarter to the last
  double elapsed_s = 0.0;
  std::vector<std::string> warnings;
  int part_rounds = 0;      ///< number of rounds on a part of the problem
  double part_share = 0.0;  ///< the part's share of the work; 0: all rounds were on the whole
  double at_sm_mhz = 0.0;   ///< SM clock that times are scaled to; 0: times are as taken
};

/// The readings of the GPU's management library (NVML) while the samples were taken.
struct GpuConditions {
  std::int64_t readings = 0;
  double sm_mhz_min = 0.0;
  double sm_mhz_median = 0.0;
  double sm_mhz_max = 0.0;
  double power_w_median = 0.0;
  double power_w_max = 0.0;
  double temperature_c_max = 0.0;
  std::vector<std::string> throttle_reasons;  ///< reasons active at any reading
  /// The medians of consecutive parts of the readings, in the order in which they were taken.
  /// Empty: an earlier version of fatune measured this.
  std::vector<GpuReading> timeline{};
};

/// What one rule of the space dropped and, after an audit, the time that it saved and its cost.
struct RuleAudit {
  std::string rule;
  std::int64_t pruned = 0;   ///< configurations of this problem that it dropped
  std::int64_t audited = 0;  ///< of these, tried by the audit
  double saved_compile_s = 0.0;
  double saved_measure_s = 0.0;
  std::string best_config;  ///< fastest of those audited; empty: none has a time
  /// The percentage by which it is faster than the winner of the ranking; negative: slower.
  double gain_percent = 0.0;
};

struct ProblemReport {
  Problem problem;
  int run = 1;                   ///< number of the repetition of the whole measurement, from 1
  std::vector<Result> ranking;   ///< best first; measured or estimated, nothing else
  std::vector<Result> failures;  ///< without a rank: compiled, tried, or pruned on this problem
  std::int64_t pruned = 0;       ///< configurations that rules dropped, those in `failures` too
  std::int64_t invalid = 0;      ///< configurations that the family cannot build
  std::int64_t untried = 0;      ///< configurations that the search left out
  std::string untried_because;   ///< why; empty: there are none, or the run was interrupted
  std::string device_uuid;       ///< of the GPU that measured it; empty: none
  std::optional<MeasuringSummary> measuring;
  std::optional<GpuConditions> conditions;  ///< absent: no NVML readings
  /// The rate at which its GPU multiplied dense matrices of the problem's type, at most a few
  /// seconds before.
  std::optional<MatmulRate> matmul;
  std::vector<Result> audited;  ///< pruned configurations that were tried; not in the ranking
  std::vector<RuleAudit> audit;
};

/// Counts the failures that were tried. Rules of the space dropped the others.
[[nodiscard]] std::size_t count_failed(const ProblemReport& report);
/// Whether it is a further race of a problem's winner against configurations that rules dropped
/// there and that win elsewhere (`sweep --cover`). Other repetitions have no rules.
[[nodiscard]] bool is_cover_race(const ProblemReport& report);
/// Whether a search chose which of its configurations were tried.
[[nodiscard]] bool was_searched(const ProblemReport& report);
/// Counts the configurations to be tried, that is, all that no rule dropped.
[[nodiscard]] std::size_t count_candidates(const ProblemReport& report);

struct Toolchain {
  std::string fatune_version;
  std::string nvrtc_version;
  std::string driver_version;    ///< CUDA version of the driver; empty without one
  std::string driver_release{};  ///< "580.159.04"; empty without one, or when it is not known
};

struct RunReport {
  std::string command_line;
  std::string started_at;  ///< ISO 8601, UTC
  double wall_s = 0.0;
  double busy_s = 0.0;    ///< GPU time spent verifying or measuring, summed over all GPUs
  int gpus = 0;           ///< number of GPUs that measured
  bool measured = false;  ///< false: everything here is an estimate, nothing was timed
  bool complete = true;
  std::string space;
  std::string family;
  DeviceLimits device;
  Toolchain toolchain;
  SourceHashes source_hashes{};  ///< empty: a stored run that did not keep them
  /// How far the order of each family's estimates is known to hold, by family, as sentences without
  /// their full stops. Empty: the run was measured, or did not keep them.
  std::map<std::string, std::string> estimate_orders{};
  /// The file that the times were imported from. Their run, and how they were measured, is not
  /// known. Empty: the times are this run's.
  std::string imported_from{};
  MeasurePolicy policy;
  std::vector<ProblemReport> problems;
  /// Filled by rank/: one for each type and head dimension with more than one problem, because
  /// configurations name both.
  std::vector<CommonChoice> choices{};
  std::optional<GateReport> gate{};  ///< absent: nothing was raced against the winners
  std::optional<Shard> shard{};      ///< absent: a whole sweep
  /// A random identifier, the same in all copies of the stored run. Empty: an earlier version
  /// stored it.
  std::string uid{};
  /// What may have disturbed the measurements, as sentences: other processes on the GPU, tools
  /// around this process.
  std::vector<std::string> disturbances{};
};

/// The part of the run's time in which its GPUs verified or measured, in percent.
[[nodiscard]] double busy_percent(const RunReport& report);

}  // namespace fatune
