#include "race/comparison.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/ranges.hpp"
#include "model/statistics.hpp"

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

using Changes = std::vector<TimeChange>;

constexpr double kNormalMad = 0.6744897501960817;  // median of |x|, x standard normal
constexpr double kGreatestSpread = 10.0;

/// The median of the residuals, each relative to `spread` and the noise of its samples. If it is
/// more than kNormalMad, the spread is greater.
double scaled_residual(const Changes& changes, double log_drift, double spread) {
  return median_of(mapped(changes, [&](const TimeChange& change) {
    return std::abs(change.log_ratio - log_drift) / joint_sd(spread, change.within_sd);
  }));
}

/// Finds the spread by bisection: a greater spread makes every scaled residual smaller.
double spread_explaining(const Changes& changes, double log_drift) {
  double low = kLeastSpread;
  double high = scaled_residual(changes, log_drift, low) > kNormalMad ? kGreatestSpread : low;
  while (high - low > 1e-6) {
    const double middle = std::midpoint(low, high);
    (scaled_residual(changes, log_drift, middle) > kNormalMad ? low : high) = middle;
  }
  return high;
}

double spread_of(Changes changes, double log_drift) {
  const double of_all = spread_explaining(changes, log_drift);
  std::ranges::stable_sort(changes, {}, &TimeChange::within_sd);
  changes.resize(kLeastForSpread);
  return std::max(of_all, spread_explaining(changes, log_drift));
}

/// Precondition: all `changes` are measured.
Movement movement_of(const Changes& changes) {
  Movement movement;
  movement.changes = changes.size();
  movement.spread_is_usual = changes.size() < kLeastForSpread;
  movement.log_drift = changes.empty() ? 0.0 : median_of(mapped(changes, &TimeChange::log_ratio));
  movement.spread =
      movement.spread_is_usual ? kUsualSpread : spread_of(changes, movement.log_drift);
  return movement;
}

/// Converts between a normal quantile and Student's quantile of the same probability, in units of
/// the standard deviation.
struct Student {
  double degrees;

  [[nodiscard]] double factor() const { return (8.0 * degrees + 3.0) / (8.0 * degrees + 1.0); }
  [[nodiscard]] double from_normal(double z) const {
    const double scaled = z * factor();
    return std::sqrt(degrees * std::expm1(scaled * scaled / degrees));
  }
  [[nodiscard]] double to_normal(double t) const {
    return std::sqrt(degrees * std::log1p(t * t / degrees)) / factor();
  }
};

/// The part of a change that the drift does not explain, and its uncertainty.
struct Residual {
  double log_ratio;
  double sd;
  Student student;
  bool can_be_told;

  [[nodiscard]] double normal_score() const {
    return can_be_told ? student.to_normal(std::abs(log_ratio) / sd) : 0.0;
  }
};

Residual residual_of(const TimeChange& change, const Movement& movement) {
  constexpr double kManyDegrees = 1e6;  // a normal distribution
  constexpr double kMostDegrees = 10.0;
  const auto count = static_cast<double>(movement.changes);
  const double spread = movement.spread * std::sqrt(1.0 + kMedianVariance / std::max(count, 1.0));
  return {change.log_ratio - movement.log_drift,
          joint_sd(spread, change.within_sd),
          {movement.spread_is_usual ? kManyDegrees : std::min((count - 1.0) / 2.0, kMostDegrees)},
          movement.changes >= kLeastForDrift};
}

ChangeBeyondDrift interval_of(const Residual& residual, double z) {
  if (!residual.can_be_told) {
    const double infinity = std::numeric_limits<double>::infinity();
    return {residual.log_ratio, -infinity, infinity};
  }
  const double half = residual.sd * residual.student.from_normal(z);
  return {residual.log_ratio, residual.log_ratio - half, residual.log_ratio + half};
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

Movement common_movement(Changes changes) {
  std::erase_if(changes, [](const TimeChange& change) { return !change.is_measured; });
  return movement_of(changes);
}

std::vector<Movement> movements_of(const Changes& changes, std::size_t groups) {
  std::vector<Changes> of_group(groups);
  for (const TimeChange& change : changes) {
    if (change.is_measured) {
      of_group.at(change.group).push_back(change);
    }
  }
  return mapped(of_group, movement_of);
}

std::vector<ChangeBeyondDrift> beyond_drift(const Changes& changes,
                                            const std::vector<Movement>& movements,
                                            double confidence) {
  const std::vector<Residual> residuals = mapped(changes, [&](const TimeChange& change) {
    return residual_of(change, movements.at(change.group));
  });
  std::vector<std::size_t> order(changes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::ranges::greater{},
                           [&](std::size_t i) { return residuals[i].normal_score(); });
  std::vector<ChangeBeyondDrift> beyond(changes.size());
  std::size_t left = changes.size();
  for (const std::size_t i : order) {
    const double z = normal_quantile(1.0 - (1.0 - confidence) / static_cast<double>(left));
    beyond[i] = interval_of(residuals[i], z);
    left -= residuals[i].normal_score() > z ? 1U : 0U;  // the first in doubt ends the procedure
  }
  return beyond;
}

}  // namespace fatune
