#include "study/run_noise.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/mapped.hpp"
#include "core/statistics.hpp"

namespace fatune {
namespace {

constexpr double kUsualNoise = 0.01;
constexpr std::int64_t kLeastForNoise = 4;
constexpr std::size_t kLeastForCorrelation = 8;

const Timing* timing_of(const Result& result) {
  const auto* measured = std::get_if<Measured>(&result.outcome);
  return measured == nullptr ? nullptr : &measured->timing;
}

bool has_noise(const Timing& timing) {
  return timing.stddev_us > 0.0 && timing.median_us > 0.0 &&
         (timing.sample_count == 0 || timing.sample_count >= kLeastForNoise);
}

double relative_sd(const Timing& timing) { return timing.stddev_us / timing.median_us; }

double typical_noise(const std::vector<const Timing*>& timings) {
  std::vector<double> noises;
  for (const Timing* const timing : timings) {
    if (has_noise(*timing)) {
      noises.push_back(relative_sd(*timing));
    }
  }
  std::ranges::sort(noises);
  return noises.empty() ? kUsualNoise : median_of_sorted(noises);
}

/// Sums over the samples of several configurations.
struct Products {
  double with_next = 0.0;
  double squares = 0.0;  ///< scaled to the number of terms in `with_next`
};

void add_products(const Timing& timing, Products& sums) {
  const auto residuals =
      mapped(timing.samples_us, [&](double us) { return std::log(us / timing.median_us); });
  double squares = 0.0;
  for (const double residual : residuals) {
    squares += residual * residual;
  }
  const auto count = static_cast<double>(residuals.size());
  sums.squares += squares * (count - 1.0) / count;
  for (std::size_t i = 1; i < residuals.size(); ++i) {
    sums.with_next += residuals[i] * residuals[i - 1];
  }
}

double sample_correlation(const std::vector<const Timing*>& timings) {
  Products sums;
  for (const Timing* const timing : timings) {
    if (timing->samples_us.size() >= kLeastForCorrelation) {
      add_products(*timing, sums);
    }
  }
  return sums.squares > 0.0 ? std::clamp(sums.with_next / sums.squares, 0.0, 1.0) : 0.0;
}

double interval_sd(const Timing& timing) {
  constexpr double kLeastConfidence = 0.9;
  constexpr double kMostConfidence = 1.0 - 1e-9;
  const bool is_worth_its_name = timing.confidence >= kLeastConfidence &&
                                 timing.median_low_us > 0.0 &&
                                 timing.median_high_us > timing.median_low_us;
  return is_worth_its_name
             ? std::log(timing.median_high_us / timing.median_low_us) /
                   (2.0 * normal_quantile(std::min(timing.confidence, kMostConfidence)))
             : 0.0;
}

}  // namespace

RunNoise noise_of(const ProblemReport& problem) {
  std::vector<const Timing*> timings;
  for (const Result& result : problem.ranking) {
    if (const Timing* const timing = timing_of(result); timing != nullptr) {
      timings.push_back(timing);
    }
  }
  return {typical_noise(timings), sample_correlation(timings)};
}

double median_sd(const Result& result, const RunNoise& noise) {
  const Timing* const timing = timing_of(result);
  if (timing == nullptr) {
    return 0.0;
  }
  const double of_interval = interval_sd(*timing);
  if (of_interval > 0.0 && timing->samples_us.empty()) {
    return of_interval;
  }
  const double sample_sd =
      std::max(has_noise(*timing) ? relative_sd(*timing) : 0.0, noise.sample_sd);
  const double worth = (1.0 - noise.correlation) / (1.0 + noise.correlation);
  const auto count = static_cast<double>(std::max<std::size_t>(timing->samples_us.size(), 1));
  return std::max(of_interval,
                  sample_sd * std::sqrt(kMedianVariance / std::max(count * worth, 1.0)));
}

}  // namespace fatune
