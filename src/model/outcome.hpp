#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/enum_names.hpp"
#include "base/members.hpp"

namespace fatune {

/// How far a result is from the references, over the verified elements.
struct ErrorStats {
  std::string input;
  double max_abs_error = 0.0;
  double max_abs_difference = 0.0;
  double max_abs_reference_error = 0.0;
  double limit = 0.0;
  std::int64_t elements = 0;
  std::int64_t mismatched = 0;
  std::int64_t not_finite = 0;  ///< the poison is NaN
  std::int64_t guard_bytes_changed = 0;
  /// Another output than O has only an fp32 reference, and a limit of its own (error_rule.hpp); the
  /// members about 16-bit references are 0.
  std::string output = "O";
  /// How far O is from exact attention of the inputs before they were rounded to 8 bits; absent:
  /// the kind of input does not tell (has_fitted_scales()).
  std::optional<double> quantization_rms_percent{};
  std::optional<double> quantization_max_abs_error{};

  [[nodiscard]] bool is_of_o() const { return output == "O"; }
  [[nodiscard]] double mismatched_percent() const {
    return elements == 0 ? 0.0
                         : 100.0 * static_cast<double>(mismatched) / static_cast<double>(elements);
  }
};
FATUNE_DESCRIBED(
    ErrorStats, (input, "kind of input: normal, large_logits, dominating_key, ..."),
    (max_abs_error, "greatest absolute difference from the fp32 reference"),
    (max_abs_difference,
     "greatest absolute difference from the 16-bit reference, which the rule on errors limits; 0 "
     "where "
     "Q has 8 bits"),
    (max_abs_reference_error,
     "greatest absolute difference of the 16-bit reference from the fp32 reference"),
    (limit,
     "upper limit for max_abs_error and max_abs_difference: twice max_abs_reference_error, and at "
     "least one unit in the last place"),
    (elements, "number of elements compared"),
    (mismatched,
     "number of elements that differ from the 16-bit reference by more than atol 1e-5, rtol 1e-3"),
    (not_finite, "number of NaN or infinite elements in the whole output"),
    (guard_bytes_changed, "number of bytes written outside the output tensor"),
    (output, "the output that was compared: O, or another output, which has only one reference"),
    (quantization_rms_percent, kIfAny,
     "root mean square of O's difference from exact attention of the inputs before they were "
     "rounded to 8 bits, in percent of that of exact O; absent: the kind of input does not tell"),
    (quantization_max_abs_error, kIfAny,
     "greatest absolute difference of O from exact attention of the inputs before they were "
     "rounded to 8 bits; absent: the kind of input does not tell"))

/// The mismatches of the rows of one input. Each list has an item for each compared row,
/// `rows_per_head` for each (batch, head) in turn.
struct RowMismatches {
  std::string input;
  std::int64_t rows_per_head = 0;
  std::vector<std::int32_t> row;
  std::vector<std::int32_t> mismatched;
  std::vector<std::int32_t> beyond_limit;
};
FATUNE_DESCRIBED(RowMismatches, (input, "kind of input"),
                 (rows_per_head, "number of items of the lists for each (batch, head) in turn"),
                 (row, "position of each compared row in the sequence"),
                 (mismatched, "number of its elements beyond atol 1e-5, rtol 1e-3"),
                 (beyond_limit, "number of its elements beyond the limit, from either reference"))

/// The mismatched rows of the input that `stats` is about. Returns nothing for outputs other than
/// O, or if the rows were not requested.
[[nodiscard]] std::optional<RowMismatches> rows_of(const std::vector<RowMismatches>& rows,
                                                   const ErrorStats& stats);

struct Verification {
  std::string method;  ///< "gpu references, all rows", "gpu references, 16384 of 1048576 rows"
  std::uint64_t seed = 0;
  std::vector<ErrorStats> inputs;
  std::vector<RowMismatches> rows{};
  bool deterministic = true;
};
FATUNE_DESCRIBED(
    Verification,
    (method,
     "the references and the rows that were compared; empty: nothing was compared, as for times "
     "that another program measured"),
    (seed, "seed of the random inputs"),
    (inputs, "error statistics, one entry for each kind of input and output"),
    (rows, kOrNull, "mismatches by row, one entry for each kind of input; null: not requested"),
    (deterministic,
     "false: outputs for the same inputs differed from run to run; each of them was checked"))

inline constexpr double kUsPerMs = 1e3;

/// Samples and their statistics. Times are in microseconds of device time (events).
struct Timing {
  std::vector<double> samples_us;
  std::int64_t sample_count = 0;
  double median_us = 0.0;
  double mean_us = 0.0;
  double min_us = 0.0;
  double max_us = 0.0;
  double stddev_us = 0.0;
  double median_low_us = 0.0;
  double median_high_us = 0.0;
  double confidence = 0.95;
  std::string stopped_because;  ///< "fixed count", ...
  std::vector<std::string> warnings;
  double part_share = 0.0;
  double sustained_us = 0.0;
  double sustained_sm_mhz = 0.0;
};
FATUNE_DESCRIBED(
    Timing,
    (samples_us, kOrNull,
     "all samples in microseconds, in the order in which they were taken; null: they were not "
     "kept, "
     "as in a file of winners"),
    (sample_count, Key{"samples"}, kOrNull, "number of samples; null: not known"),
    (median_us, Key{"time_us"},
     "time in microseconds that the ranking uses: the median of the samples, or the estimate"),
    (mean_us, kOrNull, "mean of the samples in microseconds; null: not known"),
    (min_us, kOrNull, "shortest sample in microseconds; null: not known"),
    (max_us, kOrNull, "longest sample in microseconds; null: not known"),
    (stddev_us, kOrNull,
     "standard deviation of the samples in microseconds; null: fewer than two, or not known"),
    (median_low_us, kOrNull,
     "lower end of the median's confidence interval in microseconds; null: not known"),
    (median_high_us, kOrNull,
     "upper end of the median's confidence interval in microseconds; null: not known"),
    (confidence, "confidence level of the median's confidence interval"),
    (stopped_because, "why no further samples were taken"),
    (warnings, "reasons to doubt the samples"),
    (part_share, kOrNull,
     "fraction of the problem that was timed before the configuration was eliminated, with times "
     "scaled to the whole; null: the whole problem was timed (docs/racing.md)"),
    (sustained_us, kOrNull,
     "time of a launch in microseconds while the configuration ran alone, in a sustained final, "
     "which ranks it; null: it was in none (docs/racing.md)"),
    (sustained_sm_mhz, kOrNull,
     "median SM clock in MHz meanwhile; null: it was in no sustained final, or the clock is not "
     "known"))

// One alternative per way a configuration can end. Each is a result, never an exception.
struct Pruned {
  std::string rule;
  std::string reason;
};
FATUNE_DESCRIBED(Pruned, (rule, "id of the rule of the space or the family that it breaks"),
                 (reason, "why it ended like this"))
struct Invalid {
  std::string rule;
  std::string reason;
};
FATUNE_DESCRIBED(Invalid, (rule, "id of the rule of the space or the family that it breaks"),
                 (reason, "why it ended like this"))
struct CompileFailed {
  std::string log;
};
FATUNE_DESCRIBED(CompileFailed, (log, "the compiler's log"))
struct CompilerCrashed {
  std::string reason;  ///< the signal, or the limit that it met: memory, time, stack
  std::string log;
};
FATUNE_DESCRIBED(CompilerCrashed, (reason, "why it ended like this"), (log, "the compiler's log"))
struct Serialized {    ///< ptxas gave up what the kernel relies on; it is not worth measuring
  std::string reason;  ///< ptxas' notes: "C7512: wgmma.mma_async instructions are serialized ..."
};
FATUNE_DESCRIBED(Serialized, (reason, "why it ended like this"))
struct Unlaunchable {
  std::string limit;
};
FATUNE_DESCRIBED(Unlaunchable, (limit, "the limit that it exceeds, with the figures"))
struct Crashed {
  std::string error;
};
FATUNE_DESCRIBED(Crashed, (error, "the driver's name for the error, and its text"))
struct TimedOut {
  double deadline_ms = 0.0;
};
FATUNE_DESCRIBED(TimedOut, (deadline_ms, "time limit in milliseconds that it exceeded"))
struct WrongResult {
  Verification verification;
  std::string finding;
};
FATUNE_DESCRIBED(WrongResult,
                 (verification, "the comparison with references; without inputs: there was none"),
                 (finding, "what is wrong, in one sentence"))
struct Implausible {
  double time_us = 0.0;
  double least_us = 0.0;
  std::string reason;  ///< one clause, with the arithmetic
};
FATUNE_DESCRIBED(Implausible,
                 (time_us, Key{"implausible_us"}, "time in microseconds that cannot be believed"),
                 (least_us, Key{"least_plausible_us"}, "the least plausible time in microseconds"),
                 (reason, "why it ended like this"))
struct Flagged {
  Verification verification;
  std::string finding;  ///< the emulator's first finding, with its place (docs/emulate.md)
};
FATUNE_DESCRIBED(Flagged,
                 (verification, "the comparison with references; without inputs: there was none"),
                 (finding, "what is wrong, in one sentence"))
/// What an estimate of a time was made from (docs/estimate.md).
enum class EstimateSource {
  problem,      ///< the problem alone: the family declares no quantities
  family,       ///< the family's quantities
  emulation,    ///< the instructions that emulation counted
  calibration,  ///< the family's model, which was fitted to measured times
};
template <>
inline constexpr EnumNames<4> kEnumNames<EstimateSource>{
    "source of estimates", {"problem", "family", "emulation", "calibration"}};
struct EstimateTerm {
  std::string name;
  double us = 0.0;
};
FATUNE_DESCRIBED(EstimateTerm, (name, "tensor, exponent, shared_memory, ..."),
                 (us, "microseconds that it takes"))
struct Estimated {  ///< no GPU: nothing was timed
  double estimate_us = 0.0;
  std::vector<EstimateTerm> terms;
  Verification verification = {};
  std::string not_verified_because = {};
  EstimateSource from = EstimateSource::family;
};
FATUNE_DESCRIBED(
    Estimated,
    (estimate_us, Key{"time_us"},
     "time in microseconds that the ranking uses: the median of the samples, or the estimate"),
    (terms, Key{"estimate_terms"}, "what the estimate consists of"),
    (verification, "the comparison with references; without inputs: there was none"),
    (not_verified_because, kOrNull,
     "why emulation could not verify the output; null: it could, or was not asked to"),
    (from, Key{"estimated_from"},
     "what the time was estimated from: calibration, the family's model, which was fitted to "
     "measured times; emulation, the instructions that it counted; family, the family's "
     "quantities; problem, the problem alone"))
/// A figure computed from hardware counters.
struct CounterValue {
  std::string name;  ///< with its unit, from the table of src/inspect/counters: "duration_us"
  double value = 0.0;
};
struct Measured {
  Timing timing;
  Verification verification;
  std::vector<CounterValue> counters = {};
};
FATUNE_DESCRIBED(Measured, (timing, kFlat),
                 (verification, "the comparison with references; without inputs: there was none"),
                 (counters, kByName,
                  "figures computed from hardware counters, with their units in their names"))

using Outcome =
    std::variant<Pruned, Invalid, CompileFailed, CompilerCrashed, Serialized, Unlaunchable, Crashed,
                 TimedOut, WrongResult, Implausible, Flagged, Estimated, Measured>;

/// How a configuration ended: the alternatives of Outcome in their order, then what reports say
/// about configurations that are not ranked.
enum class OutcomeKind {
  pruned,
  invalid,
  compile_failed,
  compiler_crashed,
  serialized,
  unlaunchable,
  crashed,
  timed_out,
  wrong_result,
  implausible,
  flagged,
  estimated,
  measured,
  right,         ///< checked or emulated, without a fault
  compiled,      ///< only compilation was requested
  profiled,      ///< its hardware counters were read
  not_covered,   ///< the emulator cannot run it
  not_verified,  ///< nothing was compared
  stopped,       ///< it did not come to its end
};
[[nodiscard]] inline OutcomeKind outcome_kind(const Outcome& outcome) {
  return static_cast<OutcomeKind>(outcome.index());
}
/// Whether there is no machine code because it was not compiled: compile_failed, compiler_crashed.
[[nodiscard]] inline bool is_without_code(OutcomeKind kind) {
  return kind == OutcomeKind::compile_failed || kind == OutcomeKind::compiler_crashed;
}
/// The enumerator's own name, which all output formats use.
[[nodiscard]] std::string_view outcome_name(OutcomeKind kind);
/// The name of the outcome's kind, which all output formats use: "pruned", "invalid",
/// "compile_failed", "compiler_crashed", "serialized", "unlaunchable", "crashed", "timed_out",
/// "wrong_result", "implausible", "flagged", "estimated", "measured".
[[nodiscard]] inline std::string_view outcome_name(const Outcome& outcome) {
  return outcome_name(outcome_kind(outcome));
}
/// One line for people: the reason, error, limit or time. Never empty.
[[nodiscard]] std::string outcome_summary(const Outcome& outcome);
/// The comparison with references, for a measured, estimated, wrong or flagged outcome; null if
/// there was none.
[[nodiscard]] const Verification* verification_of(const Outcome& outcome);
/// How the output was found to be right: "gpu" or "emulated"; empty if it was not.
[[nodiscard]] std::string_view verified_by(const Outcome& outcome);
[[nodiscard]] bool is_ranked(const Outcome& outcome);  ///< Measured or Estimated
/// The time that ranks the outcome: the median, or the estimate. Precondition: is_ranked.
[[nodiscard]] double ranked_us(const Outcome& outcome);
/// The times in microseconds by which two outcomes are compared: their sustained times if both have
/// one, else ranked_us. Precondition: both are is_ranked.
[[nodiscard]] std::pair<double, double> compared_us(const Outcome& a, const Outcome& b);

/// The input on which O came closest to its limit, or furthest beyond it. Precondition: `inputs` is
/// not empty.
[[nodiscard]] const ErrorStats& tightest_input(const std::vector<ErrorStats>& inputs);

/// Shorter than a clock cycle, and 11 days: nothing beyond these is the time of a kernel, whether
/// measured or estimated.
inline constexpr double kLeastKernelUs = 1e-6;
inline constexpr double kMostKernelUs = 1e12;

/// Whether a number can be the time of a kernel: finite, and within the limits above.
[[nodiscard]] bool is_kernel_time(double us);

/// What is wrong with a time, for messages: "-1 us is not the time of a kernel".
[[nodiscard]] std::string not_a_kernel_time(double us);
/// What would be right, for messages.
[[nodiscard]] const std::string& kernel_times();

/// Checks one time, or all times of an outcome that was read from a file. Error(bad_file) names
/// `where`, or the member, if one is not the time of a kernel. A mean, an extreme and a bound of
/// the median may also be 0 or infinite: they are unknown.
void check_kernel_time(double us, const std::string& where);
void check_kernel_times(const Outcome& outcome);

}  // namespace fatune
