#pragma once

#include <numbers>
#include <span>
#include <vector>

#include "core/outcome.hpp"

namespace fatune {

/// An interval between two of the samples, and the probability with which it holds the median.
struct MedianInterval {
  double low = 0.0;
  double high = 0.0;
  double confidence = 0.0;  ///< at least what was asked for, unless the samples are too few
};

/// Middle value of `sorted`, the mean of the two middle ones when their number is even.
/// Precondition: not empty, ascending.
[[nodiscard]] double median_of_sorted(std::span<const double> sorted);

/// Confidence interval of the median that assumes nothing about the distribution: the number of
/// samples below the median is binomial(n, 1/2), so that [x_(k), x_(n+1-k)] misses the median with
/// probability 2 * P(Bin(n, 1/2) <= k - 1). The largest such k that meets `confidence` is taken;
/// where even the extremes do not (n < 6 at 0.95), the extremes with the confidence they do have,
/// 1 - 2^(1-n).
/// Source: H. A. David and H. N. Nagaraja, Order Statistics, 3rd ed. (2003), section 7.1.
/// Precondition: `sorted` not empty, ascending; 0 < confidence < 1.
[[nodiscard]] MedianInterval median_interval(std::span<const double> sorted, double confidence);

/// The variance of the median of many normal samples, over that of their mean: pi / 2.
inline constexpr double kMedianVariance = std::numbers::pi / 2.0;

/// The value that a standard normal variable exceeds in absolute value with probability
/// 1 - confidence. Precondition: 0 <= confidence < 1.
[[nodiscard]] double normal_quantile(double confidence);

/// All that outputs say of the samples. `stddev_us` is the sample standard deviation (n - 1), 0 for
/// one sample; `confidence` is what the interval really has (see median_interval);
/// `stopped_because` is left to the caller. Throws std::invalid_argument when `samples_us` is empty
/// or not finite.
[[nodiscard]] Timing summarise(std::vector<double> samples_us, double confidence);

/// Multiplies all times.
void scale(double factor, Timing& timing);

/// What is known of samples of which only the median was kept: there are none, and the interval is
/// the median.
[[nodiscard]] Timing timing_of_median(double median_us);

}  // namespace fatune
