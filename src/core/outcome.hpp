#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/estimate_source.hpp"

namespace fatune {

/// How far a result is from the references, over the verified elements.
struct ErrorStats {
  std::string input;                ///< "normal", "large_logits", "dominating_key", ...
  double max_abs_error = 0.0;       ///< |out - fp32 reference|
  double max_abs_difference = 0.0;  ///< |out - 16-bit reference|: what the documented rule limits
  double max_abs_reference_error = 0.0;  ///< |16-bit reference - fp32 reference|
  /// The limit of both: twice the reference error above, and at least one unit in the last place.
  double limit = 0.0;
  std::int64_t elements = 0;    ///< compared
  std::int64_t mismatched = 0;  ///< of O: beyond atol 1e-5, rtol 1e-3 of the 16-bit reference
  std::int64_t not_finite = 0;  ///< NaN or infinity in the whole output (the poison is NaN)
  std::int64_t guard_bytes_changed = 0;  ///< writes outside the output's memory
  /// "O", or the name of another output. Another output has only an fp32 reference, and a limit of
  /// its own (error_rule.hpp); the members about 16-bit references are 0.
  std::string output = "O";

  [[nodiscard]] bool is_of_o() const { return output == "O"; }
  [[nodiscard]] double mismatched_percent() const {
    return elements == 0 ? 0.0
                         : 100.0 * static_cast<double>(mismatched) / static_cast<double>(elements);
  }
};

/// The mismatches of the rows of one input. Each list has an item for each compared row,
/// `rows_per_head` for each (batch, head) in turn.
struct RowMismatches {
  std::string input;
  std::int64_t rows_per_head = 0;
  std::vector<std::int32_t> row;           ///< its position in the sequence
  std::vector<std::int32_t> mismatched;    ///< its elements beyond atol 1e-5, rtol 1e-3
  std::vector<std::int32_t> beyond_limit;  ///< its elements beyond the limit, from either reference
};

/// The mismatched rows of the input that `stats` is about. Returns nothing for outputs other than
/// O, or if the rows were not requested.
[[nodiscard]] std::optional<RowMismatches> rows_of(const std::vector<RowMismatches>& rows,
                                                   const ErrorStats& stats);

struct Verification {
  /// "gpu references, all rows", "gpu references, 16384 of 1048576 rows". Empty if there was no
  /// verification, as for times that another program measured.
  std::string method;
  std::uint64_t seed = 0;
  std::vector<ErrorStats> inputs;     ///< one per input kind and output
  std::vector<RowMismatches> rows{};  ///< one per input kind if requested; else empty
  /// False if correct outputs of the same inputs differed between runs. Each of them was checked.
  bool deterministic = true;
};

/// Samples and their statistics. Times are in microseconds of device time (events).
struct Timing {
  std::vector<double> samples_us;
  double median_us = 0.0;
  double mean_us = 0.0;
  double min_us = 0.0;
  double max_us = 0.0;
  double stddev_us = 0.0;
  double median_low_us = 0.0;  ///< confidence interval of the median
  double median_high_us = 0.0;
  double confidence = 0.95;
  std::string stopped_because;  ///< "fixed count", ...
  std::vector<std::string> warnings;
  /// The share of the problem that the samples were taken on, if they were taken on a part and
  /// scaled to the whole (docs/racing.md). 0: they are of the whole problem.
  double part_share = 0.0;
};

// One alternative per way a configuration can end. Each is a result, never an exception.
struct Pruned {
  std::string rule;  ///< id of the space's rule
  std::string reason;
};
struct Invalid {     ///< the family cannot build it
  std::string rule;  ///< id of the family's validity rule
  std::string reason;
};
struct CompileFailed {
  std::string log;
};
struct CompilerCrashed {  ///< the compiler itself did not come to its end
  std::string reason;     ///< the signal, or the limit that it met: memory, time, stack
  std::string log;        ///< the reason, and the compiler's last words
};
struct Serialized {    ///< ptxas gave up what the kernel relies on; it is not worth measuring
  std::string reason;  ///< ptxas' notes: "C7512: wgmma.mma_async instructions are serialized ..."
};
struct Unlaunchable {
  std::string limit;  ///< which limit, with the figures
};
struct Crashed {
  std::string error;  ///< the driver's name for the error, and its text
};
struct TimedOut {
  double deadline_ms = 0.0;
};
struct WrongResult {
  Verification verification;
  std::string finding;  ///< one sentence: which check failed, by how much
};
struct Implausible {  ///< its time cannot be believed
  double time_us = 0.0;
  double least_us = 0.0;  ///< the least plausible time
  std::string reason;     ///< one clause: why, with the arithmetic
};
struct Flagged {  ///< the emulator found a race, an access out of bounds, ... (docs/emulate.md)
  Verification verification;
  std::string finding;  ///< the first finding, with its place
};
struct EstimateTerm {
  std::string name;  ///< "tensor", "exponent", "shared_memory", ...
  double us = 0.0;
};
struct Estimated {  ///< no GPU: nothing was timed
  double estimate_us = 0.0;
  std::vector<EstimateTerm> terms;
  Verification verification = {};         ///< by emulation; no inputs: not verified
  std::string not_verified_because = {};  ///< empty: verified, or verification was not requested
  EstimateSource from = EstimateSource::family;
};
/// A figure computed from hardware counters.
struct CounterValue {
  std::string name;  ///< with its unit, from the table of src/counters: "duration_us"
  double value = 0.0;
};
struct Measured {
  Timing timing;
  Verification verification;
  std::vector<CounterValue> counters = {};  ///< empty: none were read
};

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
[[nodiscard]] OutcomeKind outcome_kind(const Outcome& outcome);
/// Whether there is no machine code because it was not compiled: compile_failed, compiler_crashed.
[[nodiscard]] bool is_without_code(OutcomeKind kind);
/// The enumerator's own name, which all output formats use.
[[nodiscard]] std::string_view outcome_name(OutcomeKind kind);
/// The name of the outcome's kind, which all output formats use: "pruned", "invalid",
/// "compile_failed", "compiler_crashed", "serialized", "unlaunchable", "crashed", "timed_out",
/// "wrong_result", "implausible", "flagged", "estimated", "measured".
[[nodiscard]] std::string_view outcome_name(const Outcome& outcome);
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

}  // namespace fatune
