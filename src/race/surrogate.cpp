#include "race/surrogate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>
#include <string>

#include <Eigen/Cholesky>
#include <Eigen/Core>

namespace fatune {
namespace {

/// The distance of two families' configurations, of which nothing is comparable but the guess.
constexpr double kFamilyDistance = 4.0;
/// The width, in the logarithm of a scale, of the prior that keeps scales near 1.
constexpr double kScalePrior = 2.0;

/// Shifts and scales values to mean 0 and variance 1. Values that are all the same become 0.
void standardize(std::vector<double>& values) {
  if (values.empty()) {
    return;
  }
  Eigen::Map<Eigen::ArrayXd> all(values.data(), static_cast<Eigen::Index>(values.size()));
  all -= all.mean();
  const double deviation = std::sqrt(all.square().mean());
  all *= deviation > 1e-9 ? 1.0 / deviation : 0.0;
}

std::vector<double> log_guesses(const std::vector<SearchPoint>& points) {
  std::vector<double> guesses;
  for (const SearchPoint& point : points) {
    guesses.push_back(std::log(std::max(point.guess_us, 1e-3)));
  }
  standardize(guesses);
  return guesses;
}

/// The least and greatest value of each parameter in one family's configurations.
struct Ranges {
  std::size_t index = 0;  ///< of the family
  Eigen::ArrayXd least;
  Eigen::ArrayXd greatest;
};

Eigen::ArrayXd values_of(const Config& config) {
  Eigen::ArrayXd values(static_cast<Eigen::Index>(config.values.size()));
  std::ranges::copy(config.values, values.begin());
  return values;
}

std::map<std::string, Ranges> ranges_of(const std::vector<SearchPoint>& points) {
  std::map<std::string, Ranges> ranges;
  for (const SearchPoint& point : points) {
    const Eigen::ArrayXd values = values_of(point.config);
    const auto [found, is_new] =
        ranges.try_emplace(point.config.family, Ranges{ranges.size(), values, values});
    found->second.least = found->second.least.min(values);
    found->second.greatest = found->second.greatest.max(values);
  }
  return ranges;
}

}  // namespace

double Forecast::expected_improvement(double bound) const {
  const double z = (bound - mean) / deviation;
  const double density = std::exp(-0.5 * z * z) / std::sqrt(2.0 * std::numbers::pi);
  return (bound - mean) * probability_below(bound) + deviation * density;
}

double Forecast::probability_below(double bound) const {
  return 0.5 * std::erfc((mean - bound) / (deviation * std::numbers::sqrt2));
}

/// The regression itself. Its public functions are those of Surrogate.
class Surrogate::Regression {
 public:
  explicit Regression(const std::vector<SearchPoint>& points) : guesses_(log_guesses(points)) {
    const std::map<std::string, Ranges> ranges = ranges_of(points);
    scales_.weights.resize(ranges.size());
    for (const auto& [family, of] : ranges) {
      scales_.weights[of.index] = (of.greatest > of.least).cast<double>();
    }
    for (const SearchPoint& point : points) {
      const Ranges& of = ranges.at(point.config.family);
      families_.push_back(of.index);
      coordinates_.emplace_back((values_of(point.config) - of.least) /
                                (of.greatest - of.least).max(1.0));
    }
  }

  void learn(const std::vector<KnownValue>& known) {
    known_.clear();
    values_.resize(static_cast<Eigen::Index>(known.size()));
    for (const KnownValue& one : known) {
      values_[static_cast<Eigen::Index>(known_.size())] = one.value;
      known_.push_back(one.point);
    }
    // Scales change slowly, and choosing them costs as much as hundreds of solutions.
    if (known.size() >= scaled_from_ + std::max<std::size_t>(1, scaled_from_ / 16)) {
      scaled_from_ = known.size();
      choose_scales();
    }
    solve();
  }

  void await(const std::vector<std::size_t>& points) {
    for (const Forecast& expected : forecast(points)) {
      values_.conservativeResize(values_.size() + 1);
      values_[values_.size() - 1] = expected.mean;
    }
    known_.insert(known_.end(), points.begin(), points.end());
    solve();
  }

  [[nodiscard]] std::vector<Forecast> forecast(const std::vector<std::size_t>& points) const {
    const auto count = static_cast<Eigen::Index>(points.size());
    Eigen::MatrixXd shared(static_cast<Eigen::Index>(known_.size()), count);
    for (Eigen::Index column = 0; column < count; ++column) {
      for (Eigen::Index row = 0; row < shared.rows(); ++row) {
        shared(row, column) = covariance(scales_, known_[static_cast<std::size_t>(row)],
                                         points[static_cast<std::size_t>(column)]);
      }
    }
    factor_.triangularView<Eigen::Lower>().solveInPlace(shared);
    std::vector<Forecast> forecasts;
    for (Eigen::Index column = 0; column < count; ++column) {
      const double guess = guesses_[points[static_cast<std::size_t>(column)]];
      const double own = 1.0 + scales_.guess * guess * guess;
      const double left = std::max(1e-9, own - shared.col(column).squaredNorm());
      forecasts.push_back({mean_ + shared.col(column).dot(residual_), std::sqrt(variance_ * left)});
    }
    return forecasts;
  }

  [[nodiscard]] double distance(std::size_t a, std::size_t b) const {
    return families_[a] == families_[b] ? (coordinates_[a] - coordinates_[b]).abs().sum()
                                        : static_cast<double>(coordinates_[a].size());
  }

 private:
  /// What the likelihood is maximised over.
  struct Scales {
    std::vector<Eigen::ArrayXd> weights;  ///< by family: of each parameter's distance
    double guess = 0.1;                   ///< of the guesses' logarithms
    double noise = 1e-4;                  ///< variance of a known value, relative to that of all
  };

  [[nodiscard]] double covariance(const Scales& scales, std::size_t a, std::size_t b) const {
    const double apart =
        families_[a] == families_[b]
            ? (scales.weights[families_[a]] * (coordinates_[a] - coordinates_[b]).abs()).sum()
            : kFamilyDistance;
    return std::exp(-apart) + scales.guess * guesses_[a] * guesses_[b];
  }

  /// The covariances of the known points, relative to variance_.
  [[nodiscard]] Eigen::MatrixXd covariances(const Scales& scales) const {
    const auto count = static_cast<Eigen::Index>(known_.size());
    Eigen::MatrixXd all(count, count);
    for (Eigen::Index row = 0; row < count; ++row) {
      for (Eigen::Index column = 0; column <= row; ++column) {
        all(row, column) = covariance(scales, known_[static_cast<std::size_t>(row)],
                                      known_[static_cast<std::size_t>(column)]);
        all(column, row) = all(row, column);
      }
      all(row, row) += scales.noise;
    }
    return all;
  }

  [[nodiscard]] double log_likelihood(const Scales& scales) const {
    const Eigen::MatrixXd factor = covariances(scales).llt().matrixL();
    const auto lower = factor.triangularView<Eigen::Lower>();
    const Eigen::VectorXd values = lower.solve(values_);
    const Eigen::VectorXd ones = lower.solve(Eigen::VectorXd::Ones(values_.size()));
    const Eigen::VectorXd residual = values - values.dot(ones) / ones.squaredNorm() * ones;
    double log_prior = 0.0;
    for (const Eigen::ArrayXd& weights : scales.weights) {
      log_prior -= (weights > 0.0).select(weights.max(1e-9).log().square(), 0.0).sum();
    }
    const auto count = static_cast<double>(values_.size());
    const double likelihood = -0.5 * count * std::log((residual.squaredNorm() + 1e-3) / count) -
                              factor.diagonal().array().log().sum();
    return std::isfinite(likelihood) ? likelihood + log_prior / (2.0 * kScalePrior * kScalePrior)
                                     : -std::numeric_limits<double>::infinity();
  }

  /// Climbs along one scale after the other. Each time it begins where it ended last.
  void choose_scales() {
    constexpr int kSweeps = 2;
    double likelihood = log_likelihood(scales_);
    for (int sweep = 0; sweep < kSweeps; ++sweep) {
      for (Eigen::ArrayXd& weights : scales_.weights) {
        for (double& weight : weights) {
          improve(weight, 0.02, 20.0, likelihood);
        }
      }
      improve(scales_.guess, 1e-3, 10.0, likelihood);
      improve(scales_.noise, 1e-4, 0.3, likelihood);
    }
  }

  /// Multiplies a scale of scales_ by the factor that raises the likelihood, if one does.
  void improve(double& scale, double least, double greatest, double& likelihood) {
    constexpr double kStep = 2.5;
    const double before = scale;
    double best = scale;
    for (const double factor : {1.0 / kStep, kStep}) {
      scale = before > 0.0 ? std::clamp(before * factor, least, greatest) : 0.0;
      const double reached = scale == before ? likelihood : log_likelihood(scales_);
      if (reached > likelihood) {
        likelihood = reached;
        best = scale;
      }
    }
    scale = best;
  }

  void solve() {
    factor_ = covariances(scales_).llt().matrixL();
    const auto lower = factor_.triangularView<Eigen::Lower>();
    const Eigen::VectorXd values = lower.solve(values_);
    const Eigen::VectorXd ones = lower.solve(Eigen::VectorXd::Ones(values_.size()));
    mean_ = values.dot(ones) / ones.squaredNorm();
    residual_ = values - mean_ * ones;
    constexpr double kLeast = 1e-3;  // a few equal values do not make others certain
    variance_ = (residual_.squaredNorm() + kLeast) / static_cast<double>(values_.size());
  }

  std::vector<std::size_t> families_;        ///< of each point, as an index
  std::vector<Eigen::ArrayXd> coordinates_;  ///< of each point: its parameters, from 0 to 1
  std::vector<double> guesses_;              ///< of each point: logarithm, mean 0 and variance 1
  Scales scales_;
  std::size_t scaled_from_ = 0;  ///< number of values that the scales were chosen from

  std::vector<std::size_t> known_;
  Eigen::VectorXd values_;
  Eigen::MatrixXd factor_;    ///< Cholesky factor of the known points' covariances
  Eigen::VectorXd residual_;  ///< of the values from their mean, divided by the factor
  double mean_ = 0.0;
  double variance_ = 0.0;
};

Surrogate::Surrogate(const std::vector<SearchPoint>& points)
    : regression_(std::make_unique<Regression>(points)) {}
Surrogate::Surrogate(Surrogate&&) noexcept = default;
Surrogate& Surrogate::operator=(Surrogate&&) noexcept = default;
Surrogate::~Surrogate() = default;

void Surrogate::learn(const std::vector<KnownValue>& known) { regression_->learn(known); }

void Surrogate::await(const std::vector<std::size_t>& points) { regression_->await(points); }

std::vector<Forecast> Surrogate::forecast(const std::vector<std::size_t>& points) const {
  return regression_->forecast(points);
}

double Surrogate::distance(std::size_t a, std::size_t b) const {
  return regression_->distance(a, b);
}

}  // namespace fatune
