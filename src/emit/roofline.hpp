#pragma once

#include <optional>
#include <string>

#include "report/report.hpp"

// A configuration's rate, by the literature's count of FLOP, compared with what its GPU can do.
namespace fatune {

/// The rate in 10^12 FLOP per second. Nothing: the result has no time.
[[nodiscard]] std::optional<double> literature_tflops(const ProblemReport& problem,
                                                      const Result& result);

/// The rate in percent of that of dense products, measured in the same run. Nothing: that was not
/// measured, or the result was not measured in this run.
[[nodiscard]] std::optional<double> percent_of_matmul(const ProblemReport& problem,
                                                      const Result& result);

/// The rate in percent of the tensor cores' nominal peak at the median SM clock of the samples.
/// Nothing: the clock or the architecture's peak is not known, or the result was not measured in
/// this run.
[[nodiscard]] std::optional<double> percent_of_peak_at_clock(const RunReport& run,
                                                             const ProblemReport& problem,
                                                             const Result& result);

/// A line about the winner's rate; empty if neither percentage is known.
[[nodiscard]] std::string roofline_text(const RunReport& run, const ProblemReport& problem);

}  // namespace fatune
