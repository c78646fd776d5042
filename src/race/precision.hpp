#pragma once

#include <optional>
#include <vector>

#include "core/statistics.hpp"
#include "race/raced_candidate.hpp"

namespace fatune {

/// Half the width of the median's confidence interval, divided by the median. Empty if there are
/// too few samples for an interval of that confidence.
[[nodiscard]] std::optional<double> relative_half_width(const Series& series, double confidence);

/// True if more samples no longer narrow the interval: the interval of all samples is more than 0.9
/// times as wide as that of the first half, where independent noise would give 0.71. Drift or
/// changes of the clocks then outweigh the noise. False if there are no two intervals to compare.
[[nodiscard]] bool stopped_narrowing(const Series& series, double confidence);

/// The confidence interval of the median of a / b over shared rounds (paired_ratios). Empty if
/// there are too few shared rounds for an interval of that confidence.
[[nodiscard]] std::optional<MedianInterval> ratio_interval(const RacedCandidate& a,
                                                           const RacedCandidate& b,
                                                           double confidence);

}  // namespace fatune
