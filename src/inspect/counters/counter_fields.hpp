#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

// The only table of what fatune reads from hardware counters.
namespace fatune {

/// Raw metrics by the profiler's name ("gpu__time_duration.sum"), in base units: ns, bytes, bytes
/// per second, cycles, percent from 0 to 100. Metrics that could not be read are missing.
using RawCounters = std::map<std::string, double>;

/// A figure computed from hardware counters: scale * sum(numerator) / sum(denominator).
struct CounterField {
  std::string name;                      ///< ends with its unit: "duration_us"
  std::string unit;                      ///< what people read: "us", "%"; may be empty
  std::string title;                     ///< heading of a table's column: "L2 hit %"
  std::string doc;                       ///< explains it in one line
  std::vector<std::string> numerator;    ///< raw metrics
  std::vector<std::string> denominator;  ///< raw metrics; empty: 1
  double scale = 1.0;
  int decimals = 2;     ///< decimals that tables show
  int least_arch = 80;  ///< chips before it (90: compute capability 9.0) do not know the metrics
};

/// The sets of figures.
enum class CounterSet {
  standard,   ///< duration, cycles, registers, L2 hit rate, memory workload: the default
  attention,  ///< standard, and what explains an attention kernel: efficiency, conflicts, stalls
  core,       ///< figures that take few passes over a kernel: for counting during a sweep
};

/// The figures of a set, in the order in which they are shown.
[[nodiscard]] std::vector<CounterField> counter_fields(CounterSet set);

/// The figures that `names` select: sets ("standard", "attention", "core"), figures of the table
/// ("l2_hit_rate_percent") and raw metrics ("lts__t_bytes.sum", shown as they are), without
/// duplicates. Error(usage) for anything else, with the known names.
[[nodiscard]] std::vector<CounterField> choose_counter_fields(std::span<const std::string> names);

/// The raw metrics that these figures are made of, without duplicates, on a chip of that compute
/// capability (90: 9.0).
[[nodiscard]] std::vector<std::string> raw_metrics(std::span<const CounterField> fields, int arch);

/// The metrics of `fields` that are read from hardware. The others ("launch__...") describe the
/// kernel's launch: a profiler reports them, and CUPTI does not.
[[nodiscard]] std::vector<std::string> hardware_metrics(std::span<const CounterField> fields,
                                                        int arch);

/// The raw metric of a thread's registers, for callers that know their number from the compiler.
inline constexpr const char* kRegistersMetric = "launch__registers_per_thread";

/// A figure's value; nothing if one of its metrics was not read, or it divides by zero.
[[nodiscard]] std::optional<double> derive(const CounterField& field, const RawCounters& raw);

/// The values of the figures, averaged over the runs that have them, by name and in the order of
/// `fields`. Figures without a value are left out.
[[nodiscard]] std::vector<std::pair<std::string, double>> derive_averages(
    std::span<const CounterField> fields, std::span<const RawCounters> runs);

}  // namespace fatune
