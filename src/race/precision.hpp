#pragma once

#include <optional>
#include <vector>

#include "core/statistics.hpp"
#include "race/raced_candidate.hpp"

namespace fatune {

/// Half the width of the median's confidence interval over the median; nothing where the samples
/// are too few for an interval of that confidence.
[[nodiscard]] std::optional<double> relative_half_width(const Series& series, double confidence);

/// True when more samples no longer make the interval narrower: that of all samples is more than
/// 0.9 times as wide as that of the first half, where independent noise would give 0.71. Drift, or
/// clocks that changed, then outweigh the noise. False without intervals to compare.
[[nodiscard]] bool stopped_narrowing(const Series& series, double confidence);

/// Confidence interval of the median of a / b over shared rounds (paired_ratios); nothing where
/// those are too few for an interval of that confidence.
[[nodiscard]] std::optional<MedianInterval> ratio_interval(const RacedCandidate& a,
                                                           const RacedCandidate& b,
                                                           double confidence);

}  // namespace fatune
