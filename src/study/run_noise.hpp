#pragma once

#include "report/report.hpp"

namespace fatune {

/// How the samples of a problem's configurations vary within one run.
struct RunNoise {
  double sample_sd = 0.0;  ///< relative standard deviation of a sample: the median configuration's
  /// Correlation of a sample's logarithm with that of the same configuration's next sample, over
  /// all configurations with enough samples, 0 or more. At a power limit a kernel keeps one speed
  /// for a while: samples that follow each other are not as good as independent ones.
  double correlation = 0.0;
};

[[nodiscard]] RunNoise noise_of(const ProblemReport& problem);

/// Standard deviation of the logarithm of a result's median: that of its interval, which takes its
/// samples for independent, or that of as many independent samples as they are worth,
/// n (1 - correlation) / (1 + correlation), if it is greater. The former alone where the
/// samples were not kept; 0 without a measured time.
/// Source: the variance of the mean of an AR(1) process; G. E. P. Box, G. M. Jenkins and
/// G. C. Reinsel, Time Series Analysis, 4th ed. (2008), section 2.1.
[[nodiscard]] double median_sd(const Result& result, const RunNoise& noise);

}  // namespace fatune
