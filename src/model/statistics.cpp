#include "model/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

namespace fatune {
namespace {

// P(Bin(n, 1/2) = k), in logarithms so that 2^-n does not underflow.
double fair_binomial(std::size_t n, std::size_t k) {
  const auto nd = static_cast<double>(n);
  const auto kd = static_cast<double>(k);
  return std::exp(std::lgamma(nd + 1) - std::lgamma(kd + 1) - std::lgamma(nd - kd + 1) -
                  nd * std::numbers::ln2);
}

void check_samples(std::span<const double> samples) {
  const auto finite = [](double x) { return std::isfinite(x); };
  if (samples.empty() || !std::ranges::all_of(samples, finite)) {
    throw std::invalid_argument("a summary needs at least one sample, and only finite ones");
  }
}

double standard_deviation(std::span<const double> samples, double mean) {
  if (samples.size() < 2) {
    return 0.0;
  }
  const double squares =
      std::accumulate(samples.begin(), samples.end(), 0.0,
                      [mean](double sum, double x) { return sum + (x - mean) * (x - mean); });
  return std::sqrt(squares / static_cast<double>(samples.size() - 1));
}

double quantile_of_sorted(std::span<const double> sorted, double part) {
  const double place = part * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], place - std::floor(place));
}

}  // namespace

double median_of_sorted(std::span<const double> sorted) {
  const std::size_t middle = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[middle]
                                : std::midpoint(sorted[middle - 1], sorted[middle]);
}

double median_of(std::vector<double> values) {
  std::ranges::sort(values);
  return median_of_sorted(values);
}

MedianInterval median_interval(std::span<const double> sorted, double confidence) {
  const std::size_t n = sorted.size();
  std::size_t k = 1;  // the interval is [x_(k), x_(n+1-k)], counted from 1
  double missed = 2 * fair_binomial(n, 0);
  while (2 * (k + 1) <= n) {
    const double wider_miss = missed + 2 * fair_binomial(n, k);
    if (wider_miss > 1 - confidence) {
      break;
    }
    missed = wider_miss;
    ++k;
  }
  return {sorted[k - 1], sorted[n - k], std::max(0.0, 1 - missed)};
}

// Uses bisection.
double normal_quantile(double confidence) {
  double low = 0.0;
  double high = 40.0;
  while (high - low > 1e-12) {
    const double middle = std::midpoint(low, high);
    (std::erfc(middle / std::numbers::sqrt2) > 1.0 - confidence ? low : high) = middle;
  }
  return low;
}

Timing summarise(std::vector<double> samples_us, double confidence) {
  check_samples(samples_us);
  std::vector<double> sorted = samples_us;
  std::ranges::sort(sorted);
  const MedianInterval interval = median_interval(sorted, confidence);
  Timing timing;
  timing.median_us = median_of_sorted(sorted);
  timing.mean_us =
      std::accumulate(sorted.begin(), sorted.end(), 0.0) / static_cast<double>(sorted.size());
  timing.min_us = sorted.front();
  timing.max_us = sorted.back();
  timing.stddev_us = standard_deviation(sorted, timing.mean_us);
  timing.median_low_us = interval.low;
  timing.median_high_us = interval.high;
  timing.confidence = interval.confidence;
  timing.sample_count = std::ssize(samples_us);
  timing.samples_us = std::move(samples_us);
  return timing;
}

void scale(double factor, Timing& timing) {
  for (double* const us : {&timing.median_us, &timing.mean_us, &timing.min_us, &timing.max_us,
                           &timing.median_low_us, &timing.median_high_us, &timing.stddev_us}) {
    *us *= factor;
  }
  for (double& us : timing.samples_us) {
    us *= factor;
  }
}

Timing timing_of_median(double median_us) {
  Timing timing;
  timing.median_us = median_us;
  return timing;
}

FiveNumbers five_numbers(std::vector<double> values) {
  std::ranges::sort(values);
  return {values.front(), quantile_of_sorted(values, 0.25), quantile_of_sorted(values, 0.5),
          quantile_of_sorted(values, 0.75), values.back()};
}

}  // namespace fatune
