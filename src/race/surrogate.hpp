#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "race/candidate_source.hpp"

namespace fatune {

/// The value of a point as a model predicts it: a normal distribution.
struct Forecast {
  double mean = 0.0;
  double deviation = 0.0;  ///< standard deviation, above 0

  /// The mean of how far the value falls below `bound`, if it does, else 0.
  [[nodiscard]] double expected_improvement(double bound) const;
  /// The probability that the value is below `bound`.
  [[nodiscard]] double probability_below(double bound) const;
};

/// A point and its value.
struct KnownValue {
  std::size_t point = 0;
  double value = 0.0;
};

/// Gaussian process regression over the configurations of a space: configurations that differ in
/// few parameters have similar values, and values follow the logarithm of SearchPoint::guess_us as
/// far as the known ones do. How much each parameter matters is learned too (maximum of the
/// marginal likelihood; Rasmussen and Williams, Gaussian Processes for Machine Learning, chapters
/// 2 and 5). The same calls give the same answers. Points are indices of the constructor's list.
class Surrogate {
 public:
  explicit Surrogate(const std::vector<SearchPoint>& points);
  Surrogate(Surrogate&&) noexcept;
  Surrogate& operator=(Surrogate&&) noexcept;
  ~Surrogate();

  /// Learns from these values, and forgets all earlier ones. `known` is not empty.
  void learn(const std::vector<KnownValue>& known);
  /// Adds points whose values will be known later. Until then their forecasts stand in for them, so
  /// that forecasts near them are less uncertain. Precondition: learn() was called.
  void await(const std::vector<std::size_t>& points);
  /// One forecast for each point. Precondition: learn() was called.
  [[nodiscard]] std::vector<Forecast> forecast(const std::vector<std::size_t>& points) const;
  /// The distance of two points: how many parameters differ, each by which part of its range.
  [[nodiscard]] double distance(std::size_t a, std::size_t b) const;

 private:
  class Regression;
  std::unique_ptr<Regression> regression_;
};

}  // namespace fatune
