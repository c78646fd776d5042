#pragma once

#include <span>
#include <string>
#include <vector>

// The command lines of Nsight Compute, as vectors: no shell reads them.
namespace fatune {

struct NcuProfile {
  std::string report;                 ///< the .ncu-rep file to write
  std::string log;                    ///< the file for its messages
  std::vector<std::string> metrics;   ///< raw metrics, in addition to the sections
  std::vector<std::string> sections;  ///< "MemoryWorkloadAnalysis"
  std::string set;                    ///< a set of sections: "basic", "full"; empty: none
};

/// ncu's arguments up to the program to run. ncu profiles the launches within profiler ranges
/// (cuProfilerStart), by kernel replay with all caches flushed before each pass, and leaves the
/// clocks alone.
[[nodiscard]] std::vector<std::string> ncu_profile_arguments(const NcuProfile& profile);

/// Arguments that print a report as a table (ncu_report.hpp), with every metric in base units.
[[nodiscard]] std::vector<std::string> ncu_table_arguments(const std::string& report);

/// Arguments that print a report for people.
[[nodiscard]] std::vector<std::string> ncu_text_arguments(const std::string& report);

}  // namespace fatune
