#pragma once

#include <optional>
#include <string>

#include "report/report.hpp"

// A configuration's rate, by the literature's count of FLOP, beside what its GPU can do.
namespace fatune {

/// Nothing: it has no time.
[[nodiscard]] std::optional<double> literature_tflops(const ProblemReport& problem,
                                                      const Result& result);

/// Percent of the rate of dense products that was measured in the same run. Nothing: it was not
/// measured, or the result's time is of an earlier run.
[[nodiscard]] std::optional<double> percent_of_matmul(const ProblemReport& problem,
                                                      const Result& result);

/// Percent of the tensor cores' nominal peak at the median of the SM clocks that were read beside
/// the samples. Nothing: there are none, the architecture is not known, or the time is of an
/// earlier run.
[[nodiscard]] std::optional<double> percent_of_peak_at_clock(const RunReport& run,
                                                             const ProblemReport& problem,
                                                             const Result& result);

/// A line about the first of the ranking; empty when neither is known.
[[nodiscard]] std::string roofline_text(const RunReport& run, const ProblemReport& problem);

}  // namespace fatune
