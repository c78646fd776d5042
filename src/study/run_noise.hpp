#pragma once

#include "report/report.hpp"

namespace fatune {

/// The variation of the samples of a problem's configurations within one run.
struct RunNoise {
  double sample_sd = 0.0;  ///< relative standard deviation of a sample, median of configurations
  /// The correlation of a sample's logarithm with that of the same configuration's next sample,
  /// over all configurations with enough samples, 0 or more. At a power limit a kernel keeps one
  /// speed for a while, and consecutive samples are worth less than independent ones.
  double correlation = 0.0;
};

[[nodiscard]] RunNoise noise_of(const ProblemReport& problem);

/// The standard deviation of the logarithm of a result's median: the greater of that of its
/// interval, which assumes independent samples, and that of n (1 - correlation) / (1 + correlation)
/// independent samples. If the samples were not kept, its interval alone is used, if there is one.
/// 0 without a measured time.
/// Source: the variance of the mean of an AR(1) process; G. E. P. Box, G. M. Jenkins and
/// G. C. Reinsel, Time Series Analysis, 4th ed. (2008), section 2.1.
[[nodiscard]] double median_sd(const Result& result, const RunNoise& noise);

}  // namespace fatune
