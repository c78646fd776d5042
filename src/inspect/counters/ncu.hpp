#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"

namespace fatune {

// The command lines of Nsight Compute, as vectors: no shell reads them.

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
[[nodiscard]] inline std::vector<std::string> ncu_table_arguments(const std::string& report) {
  return {"--import", report, "--csv", "--page", "raw", "--print-units", "base"};
}

/// Arguments that print a report for people.
[[nodiscard]] inline std::vector<std::string> ncu_text_arguments(const std::string& report) {
  return {"--import", report, "--page", "details"};
}

/// Tells from its messages why Nsight Compute has profiled nothing, and what to do: no permission
/// to read counters (ERR_NVGPUCTRPERM), an unsupported GPU, counters that another program holds, an
/// unknown metric or section, or no launch seen; else its errors as they are. `where`: the command
/// or file concerned.
[[nodiscard]] Error ncu_failure(std::string_view messages, const std::string& where);

/// Whether the messages contain an error.
[[nodiscard]] bool has_ncu_errors(std::string_view messages);

/// The remedy for counters that an ordinary user may not read.
[[nodiscard]] std::string counter_permission_remedy();

/// The version in the output of `ncu --version`, "2025.3.1.0"; empty: there is none.
[[nodiscard]] std::string ncu_version(std::string_view text);

}  // namespace fatune
