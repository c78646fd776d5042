#include "study/run_movement.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/mapped.hpp"
#include "core/statistics.hpp"

namespace fatune {
namespace {

using Changes = std::vector<TimeChange>;

constexpr double kNormalMad = 0.6744897501960817;  // median of |x|, x standard normal
constexpr double kGreatestSpread = 10.0;

double median_of(std::vector<double> values) {
  std::ranges::sort(values);
  return median_of_sorted(values);
}

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
