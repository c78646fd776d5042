#pragma once

#include <map>
#include <string>
#include <vector>

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

}  // namespace fatune
