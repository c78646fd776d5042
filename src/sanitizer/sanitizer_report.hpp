#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/sanitizer.hpp"

namespace fatune {

/// The result of one run of compute-sanitizer.
struct SanitizerReport {
  std::vector<SanitizerFinding> findings;  ///< in the order in which they were first reported
  std::int64_t errors = 0;                 ///< by the summary, errors of API calls included
  std::int64_t warnings = 0;               ///< by racecheck's summary
  bool complete = false;                   ///< there is a summary: the tool came to its end
  std::vector<std::string> problems;  ///< the tool's reports about itself: it could not continue
};

/// Reads what compute-sanitizer (2022 to 2025) prints or writes to its --log-file. Lines that are
/// not the tool's are passed over; reports of a kind that is not known are findings of kind
/// "other"; those of failed API calls are none, for the driver tells the program too. Reports alike
/// in all but thread and address become one. Never throws for what is in `text`.
[[nodiscard]] SanitizerReport parse_sanitizer_report(std::string_view text);

/// Appends what another process of the same run has found.
void merge(const SanitizerReport& more, SanitizerReport& report);

}  // namespace fatune
