#pragma once

#include <numbers>
#include <span>
#include <vector>

#include "base/members.hpp"
#include "model/outcome.hpp"

namespace fatune {

/// An interval between two samples, and the probability that it contains the median.
struct MedianInterval {
  double low = 0.0;
  double high = 0.0;
  double confidence = 0.0;  ///< at least the requested one, unless the samples are too few
};
FATUNE_DESCRIBED(MedianInterval, (low, "lower end"), (high, "upper end"),
                 (confidence, "probability that the interval contains the median"))

/// The middle value of `sorted`; for an even number of values, the mean of the two middle ones.
/// Precondition: `sorted` is ascending and not empty.
[[nodiscard]] double median_of_sorted(std::span<const double> sorted);
/// Likewise, of values in any order. Precondition: not empty.
[[nodiscard]] double median_of(std::vector<double> values);

/// Confidence interval of the median that assumes nothing about the distribution. The number of
/// samples below the median is binomial(n, 1/2), so [x_(k), x_(n+1-k)] misses the median with
/// probability 2 * P(Bin(n, 1/2) <= k - 1). The interval has the largest k that meets `confidence`.
/// If even the extremes do not meet it (n < 6 at 0.95), it has the extremes with their actual
/// confidence, 1 - 2^(1-n).
/// Source: H. A. David and H. N. Nagaraja, Order Statistics, 3rd ed. (2003), section 7.1.
/// Precondition: `sorted` not empty, ascending; 0 < confidence < 1.
[[nodiscard]] MedianInterval median_interval(std::span<const double> sorted, double confidence);

/// The variance of the median of many normal samples, over that of their mean: pi / 2.
inline constexpr double kMedianVariance = std::numbers::pi / 2.0;

/// The value that a standard normal variable exceeds in absolute value with probability
/// 1 - confidence. Precondition: 0 <= confidence < 1.
[[nodiscard]] double normal_quantile(double confidence);

/// Computes all statistics of the samples that outputs have. `stddev_us` is the sample standard
/// deviation (n - 1), 0 for one sample. `confidence` is the interval's actual confidence (see
/// median_interval). The caller sets `stopped_because`. Throws std::invalid_argument when
/// `samples_us` is empty or not finite.
[[nodiscard]] Timing summarise(std::vector<double> samples_us, double confidence);

/// Multiplies all times by `factor`.
void scale(double factor, Timing& timing);

/// The timing if only the median of the samples was kept. All other figures are 0: not known.
[[nodiscard]] Timing timing_of_median(double median_us);

/// A summary of a distribution.
struct FiveNumbers {
  double least = 0.0;
  double low_quartile = 0.0;
  double median = 0.0;
  double high_quartile = 0.0;
  double greatest = 0.0;
};

/// Quartiles are interpolated between the two nearest values (type 7 of Hyndman and Fan).
/// Precondition: `values` is not empty.
[[nodiscard]] FiveNumbers five_numbers(std::vector<double> values);

}  // namespace fatune
