#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/members.hpp"
#include "model/config.hpp"
#include "model/device_limits.hpp"
#include "model/kernel_code.hpp"
#include "model/measure_policy.hpp"
#include "model/outcome.hpp"
#include "model/problem.hpp"
#include "model/statistics.hpp"
#include "model/verdict.hpp"

namespace fatune {

/// The one configuration that does best on all problems of a type and head dimension.
struct CommonChoice {
  DType dtype = DType::fp16;
  std::int64_t d_head = 0;
  std::size_t problems = 0;           ///< repetitions are counted separately
  std::string config;                 ///< short form; empty: none is ranked on all of them
  std::string family;                 ///< its kernel family
  double mean_regret_percent = 0.0;   ///< how much slower it is than the winners: geometric mean
  double worst_regret_percent = 0.0;  ///< the greatest on any problem
  Problem worst_problem;
};

/// A problem of a sweep, and its place among all of the sweep's problems.
struct PlacedProblem {
  std::int64_t place = 0;
  Problem problem;
};
FATUNE_DESCRIBED(PlacedProblem, (place, "place among all of the sweep's problems, from 0"),
                 (problem, "the problem"))

/// The part of a sweep that a run covers (docs/fleets.md).
struct Shard {
  std::vector<int> numbers;
  int count = 1;
  std::string fleet;
  std::string sweep;
  std::int64_t sweep_problems = 0;
  std::vector<PlacedProblem> problems;
};
FATUNE_DESCRIBED(Shard,
                 (numbers, "numbers of the shards, from 1; several if runs are shown as one"),
                 (count, "number of shards of the sweep"),
                 (fleet, "the user's name for the whole; may be empty"),
                 (sweep, "hash of the whole and its conditions; equal in all of its runs"),
                 (sweep_problems, "number of problems of the whole sweep"),
                 (problems, "the problems of these shards, in order"))

/// For example "3/8", or "1,2,5/8" for several shards.
[[nodiscard]] std::string shard_text(const Shard& shard);
/// Parses a shard_text() into numbers and count. Error(usage) unless the numbers are from 1 to the
/// count.
[[nodiscard]] Shard parse_shard(std::string_view text);

/// One configuration on one problem, with everything known about it.
struct Result {
  Config config;
  std::string short_form;
  std::string kernel_name;
  std::vector<NamedValue> parameters;
  std::optional<ResourceFacts> facts;  ///< absent when it was never compiled
  std::int64_t dynamic_smem_bytes = 0;
  int threads_per_block = 0;
  int blocks_per_sm = 0;  ///< from the facts and the device's limits
  double compile_ms = 0.0;
  bool from_cache = false;
  std::string artifact_key;
  std::optional<double> total_flop;
  Outcome outcome;
  bool reused = false;
  std::string same_code_as;
  std::string pruned_by;
  std::string proposed_by;
  std::int64_t proposal = 0;

  // Filled by rank/.
  int rank = 0;
  int tie_group = 0;
  double relative_percent = 0.0;
  /// Absent: it is the fastest, there are too few pairs of samples, or the report was read from a
  /// store.
  std::optional<MedianInterval> to_fastest{};
};
FATUNE_DESCRIBED(
    Result, (config, kFlat), (short_form, Key{"config"}, "the configuration's short form"),
    (kernel_name, kOrNull,
     "the kernel's name as profilers print it; null: the family has no such form"),
    (parameters, kByName, "the configuration's parameters by name"), (facts, kFlat),
    (dynamic_smem_bytes, "dynamic shared memory per block in bytes"),
    (threads_per_block, kOrNull, "threads per block; null: it was not compiled"),
    (blocks_per_sm, "thread blocks that fit on one SM at a time; 0: none, or it was not compiled"),
    (compile_ms, kOrNull,
     "compile time in milliseconds, also if the machine code came from the cache; null: it was not "
     "compiled"),
    (from_cache, "whether the machine code came from the cache"),
    (artifact_key, kOrNull, "content address of the machine code; null: there is none"),
    (total_flop,
     "the family's own count of FLOP, softmax and rescaling included; null: it has none"),
    (outcome, kFlat), (reused, "true: the outcome was taken from an earlier run (docs/store.md)"),
    (same_code_as, kOrNull,
     "short form of a configuration with the same machine code and launch, from which the outcome "
     "was copied; null: none"),
    (pruned_by, kOrNull,
     "id of the rule that dropped the configuration, if it was tried anyway for an audit; else "
     "null"),
    (proposed_by, kOrNull,
     "what proposed the configuration: a search, or plan (its outcome is needed); null: not known "
     "(docs/search.md)"),
    (proposal, kOrNull,
     "place of the configuration among those proposed for the problem; null: not known"),
    (rank, kOrNull, "place in the ranking, 1 for the fastest; null: not ranked"),
    (tie_group, kOrNull,
     "number of the tie group: results with the same number cannot be told apart from the group's "
     "first by their times; null: not ranked"),
    (relative_percent, kOrNull,
     "100 * time of the baseline / time of this configuration; null: not ranked"),
    (to_fastest,
     "interval of the median ratio of its time to the fastest one's, over pairs of samples that a "
     "race took in succession; null: not known"))

/// The value of Result::proposed_by if all configurations of a problem are tried.
inline constexpr const char* kTriesAll = "exhaustive";

/// Finds the result of a configuration. Returns null if there is none.
[[nodiscard]] const Result* find_result(const std::vector<Result>& results, const Config& config);

/// How the samples of a problem were taken (docs/racing.md).
struct MeasuringSummary {
  StopReason stopped_because = StopReason::not_yet;
  int rounds = 0;
  int final_rounds = 0;
  std::int64_t samples_taken = 0;
  std::int64_t samples_retaken = 0;
  std::string sentinel;
  double drift_percent = 0.0;
  double elapsed_s = 0.0;
  std::vector<std::string> warnings;
  int part_rounds = 0;
  double part_share = 0.0;
  double at_sm_mhz = 0.0;
  std::string not_sustained_because{};
};
FATUNE_DESCRIBED(
    MeasuringSummary,
    (stopped_because,
     "why measuring ended: target reached, fixed count, budget used up, interrupted, ..."),
    (rounds, "number of rounds before the finals, in each of which every contender gave a sample"),
    (final_rounds, "number of rounds of the finals"),
    (samples_taken, "number of samples taken, including the discarded ones"),
    (samples_retaken,
     "number of samples that were discarded and taken again: throttled, or the round's sentinel "
     "was "
     "off"),
    (sentinel, "short form of the configuration that was in every round"),
    (drift_percent,
     "by how many percent the last quarter of the sentinel's samples is slower than the first"),
    (elapsed_s, "seconds spent on the problem"), (warnings, "reasons to doubt the samples"),
    (part_rounds, "number of the rounds that measured only a part of the problem"),
    (part_share, kOrNull,
     "fraction of the problem that was measured in part_rounds; null: all rounds measured the "
     "whole "
     "problem"),
    (at_sm_mhz, kOrNull,
     "SM clock in MHz that the times are scaled to; null: the times are as measured"),
    (not_sustained_because, kOrNull,
     "why the problem has no sustained final (docs/racing.md); null: it has one, or none was "
     "wanted"))

/// The readings of the GPU's management library (NVML) while the samples were taken.
struct GpuConditions {
  std::int64_t readings = 0;
  double sm_mhz_min = 0.0;
  double sm_mhz_median = 0.0;
  double sm_mhz_max = 0.0;
  double power_w_median = 0.0;
  double power_w_max = 0.0;
  double temperature_c_max = 0.0;
  std::vector<std::string> throttle_reasons;
  std::vector<GpuReading> timeline{};
};
FATUNE_DESCRIBED(
    GpuConditions, (readings, "number of readings of the GPU's clock, power and temperature"),
    (sm_mhz_min, kOrNull, "lowest SM clock in MHz"),
    (sm_mhz_median, kOrNull, "median SM clock in MHz"),
    (sm_mhz_max, kOrNull, "highest SM clock in MHz"),
    (power_w_median, kOrNull, "median power draw in watts"),
    (power_w_max, kOrNull, "highest power draw in watts"),
    (temperature_c_max, kOrNull, "highest temperature in degrees Celsius"),
    (throttle_reasons, "reasons for lower clocks that were in force at one or more readings"),
    (timeline,
     "medians of consecutive parts of the readings, in the order in which they were taken"))

/// What one rule of the space dropped and, after an audit, the time that it saved and its cost.
struct RuleAudit {
  std::string rule;
  std::int64_t pruned = 0;
  std::int64_t audited = 0;
  double saved_compile_s = 0.0;
  double saved_measure_s = 0.0;
  std::string best_config;
  double gain_percent = 0.0;
};
FATUNE_DESCRIBED(
    RuleAudit, (rule, "id of the rule"),
    (pruned, "number of configurations of this problem that the rule dropped"),
    (audited,
     "number of the dropped configurations that were tried anyway, with --audit or --cover"),
    (saved_compile_s,
     "compile time in seconds that the rule saved, extrapolated from the dropped configurations "
     "that were tried"),
    (saved_measure_s,
     "time of samples in seconds that the rule saved, extrapolated from the dropped configurations "
     "that were tried"),
    (best_config, kOrNull,
     "short form of the fastest dropped configuration that was tried; null: none has a time"),
    (gain_percent, kOrNull,
     "by how many percent best_config is faster than the winner; negative: slower; null: neither"))

struct ProblemReport {
  Problem problem;
  int run = 1;
  std::optional<double> calls{};
  std::optional<double> before_us{};
  std::vector<Result> ranking;   ///< measured or estimated, nothing else
  std::vector<Result> failures;  ///< compiled, tried, or pruned on this problem
  std::int64_t pruned = 0;
  std::int64_t invalid = 0;
  std::int64_t untried = 0;
  std::string untried_because;
  std::int64_t more_ranked = 0;
  std::int64_t more_failed = 0;
  std::string device_uuid;
  std::optional<MeasuringSummary> measuring;
  std::optional<GpuConditions> conditions;  ///< absent: no NVML readings
  std::optional<MatmulRate> matmul;
  std::optional<MemoryRate> memory;
  std::vector<Result> audited;
  std::vector<RuleAudit> audit;
};
FATUNE_DESCRIBED(
    ProblemReport, (problem, "the problem"),
    (run, "number of the repetition of the whole measurement, from 1"),
    (calls, kOrNull, "how often the workload calls the problem; null: no workload was swept"),
    (before_us, kOrNull,
     "microseconds of a call with what the program used before, as the workload says; null: not "
     "known"),
    (ranking, "ranked results, the best first"),
    (failures,
     "results without a rank; outcome pruned: a rule of the space dropped the configuration on "
     "this "
     "problem"),
    (pruned,
     "number of configurations that the space's rules dropped, including those in failures"),
    (invalid, "number of configurations that the family cannot build"),
    (untried,
     "number of configurations that could run and that the search left out (docs/search.md)"),
    (untried_because, kOrNull,
     "why they were left out; null: there are none, or the run was interrupted"),
    (more_ranked, kOrNull,
     "number of ranked results that the file leaves out, as a file of winners does; null: none"),
    (more_failed, kOrNull, "number of failures that the file leaves out; null: none"),
    (device_uuid, kOrNull, "UUID of the GPU that measured the problem; null: none"),
    (measuring, "how the samples were taken; null: none were"),
    (conditions, "clocks, power and heat of the GPU meanwhile; null: not known"),
    (matmul,
     "rate of dense matrix products of the problem's element type, measured on its GPU just before "
     "the problem; null: not measured"),
    (memory,
     "rate at which kernels read the memory of its GPU, measured just before the problem; null: "
     "not "
     "measured"),
    (audited,
     "pruned configurations that were tried anyway, the fastest first; they are not ranked"),
    (audit, "what each rule dropped and, with --audit or --cover, what it saved and cost"))

/// The report with empty lists of results.
[[nodiscard]] ProblemReport without_results(const ProblemReport& report);
/// The number of configurations that have a rank, including those that the report leaves out.
[[nodiscard]] std::size_t count_ranked(const ProblemReport& report);
/// Counts the failures that were tried. Rules of the space dropped the others.
[[nodiscard]] std::size_t count_failed(const ProblemReport& report);
/// Whether it is a further race of a problem's winner against configurations that rules dropped
/// there and that win elsewhere (`sweep --cover`). Other repetitions have no rules.
[[nodiscard]] bool is_cover_race(const ProblemReport& report);
/// Whether a search chose which of its configurations were tried.
[[nodiscard]] bool was_searched(const ProblemReport& report);
/// Counts the configurations to be tried, that is, all that no rule dropped.
[[nodiscard]] inline std::size_t count_candidates(const ProblemReport& report) {
  return count_ranked(report) + count_failed(report);
}

struct Toolchain {
  std::string fatune_version;
  std::string nvrtc_version;
  std::string driver_version;
  std::string driver_release{};
};
FATUNE_DESCRIBED(
    Toolchain, (fatune_version, Key{"fatune"}, "version of fatune"),
    (nvrtc_version, Key{"nvrtc"}, "version of NVRTC; empty: nothing was compiled"),
    (driver_version, Key{"driver_cuda"}, "CUDA version of the driver; empty: no GPU was used"),
    (driver_release, Key{"driver"},
     "release of the driver, e.g. 580.159.04; empty: no GPU was used, or the release is not known"))

/// The version of the format of files with reports (results.json, best_configs.json).
inline constexpr int kResultsVersion = 2;

struct RunReport {
  std::string command_line;
  std::string started_at;
  double wall_s = 0.0;
  double busy_s = 0.0;
  int gpus = 0;
  bool measured = false;
  bool complete = true;
  std::string space;
  std::string family;
  DeviceLimits device;
  Toolchain toolchain;
  SourceHashes source_hashes{};
  std::map<std::string, std::string> estimate_orders{};  ///< sentences without their full stops
  std::string imported_from{};
  MeasurePolicy policy;
  std::vector<ProblemReport> problems;
  /// Filled by rank/: one for each type and head dimension with more than one problem, because
  /// configurations name both. Outputs have them in their summary.
  std::vector<CommonChoice> choices{};
  std::optional<GateReport> gate{};  ///< absent: nothing was raced against the winners
  std::optional<Shard> shard{};
  std::string uid{};
  std::vector<std::string> disturbances{};
};

/// All members but `choices`, which rank/ computes.
template <Is<RunReport> Self, typename Visit>
void visit_members(Self& self, const Visit& visit) {
  auto& [command_line, started_at, wall_s, busy_s, gpus, measured, complete, space, family, device,
         toolchain, source_hashes, estimate_orders, imported_from, policy, problems, choices, gate,
         shard, uid, disturbances] = self;
  FATUNE_VISIT_EACH(
      (measured, "false: nothing was timed, and all times are estimates"),
      (complete, "false: the run was stopped or is still in progress"),
      (command_line, "the command line as typed, with the options that fatune.toml adds"),
      (started_at, "start of the run: ISO 8601, UTC"),
      (wall_s, "seconds from the start of the run until this report was written"),
      (busy_s, "seconds that the GPUs spent verifying or measuring, summed over all of them"),
      (gpus, Key{"gpus_used"}, "number of GPUs that measured; 0: none"),
      (disturbances,
       "what may have disturbed the measurements: other processes on the GPU, tools around fatune"),
      (family, "kernel family; several are joined by +"),
      (space,
       "search space, those of several families joined by +; empty: configurations were named "
       "instead"),
      (toolchain, "versions of what compiled and ran the kernels"),
      (source_hashes, "SHA-256 of the kernel sources of each family, by family; empty: not known"),
      (estimate_orders,
       "how far the order of each family's estimates is known to hold, by family; empty: the run "
       "was measured"),
      (imported_from, kOrNull,
       "file that the times were imported from; null: the times are this run's own"),
      (shard, "the shards of the sweep that this run consists of; null: the whole sweep"),
      (uid, "random identifier of the run in stores, the same in all of them; empty elsewhere"),
      (policy, "how this run measures; it says nothing of times that were imported or estimated"),
      (device, "the GPU, or what was estimated for"),
      (problems, "one entry per problem, in the order in which they were done"),
      (gate,
       "comparison of the winners with what they were raced against (--against, verify-winner); "
       "null: they were raced against nothing"))
}

/// The report with the winner and the next four of each ranking alone, without their samples and
/// without cover races: for best_configs.json.
[[nodiscard]] RunReport only_winners(const RunReport& report);

/// The part of the run's time in which its GPUs verified or measured, in percent.
[[nodiscard]] double busy_percent(const RunReport& report);

}  // namespace fatune
