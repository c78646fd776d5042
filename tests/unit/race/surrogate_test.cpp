#include "race/surrogate.hpp"

#include <cmath>

#include <gmock/gmock.h>

#include "unit/race/grid_space.hpp"

namespace fatune {
namespace {

using testing::DoubleNear;

/// The value of each point of a grid of 100: a plane that falls along the first parameter.
double plane(std::size_t point) { return 1.0 - 0.1 * static_cast<double>(point / 10); }

std::vector<KnownValue> known_on(const std::vector<std::size_t>& points) {
  std::vector<KnownValue> known;
  for (const std::size_t point : points) {
    known.push_back({point, plane(point)});
  }
  return known;
}

Forecast forecast_of(const Surrogate& model, std::size_t point) {
  return model.forecast({point}).front();
}

class SurrogateOfAPlane : public testing::Test {
 protected:
  SurrogateOfAPlane() { model_.learn(known_on({0, 9, 22, 27, 44, 50, 55, 63, 78, 90, 99})); }

  Surrogate model_{grid_space(100).points};
};

TEST_F(SurrogateOfAPlane, IsSureOfWhatItKnows) {
  EXPECT_THAT(forecast_of(model_, 44).mean, DoubleNear(plane(44), 0.01));
  EXPECT_LT(forecast_of(model_, 44).deviation, forecast_of(model_, 48).deviation);
}

TEST_F(SurrogateOfAPlane, PredictsWhatItHasNotSeen) {
  for (const std::size_t point : {25U, 48U, 75U, 96U}) {
    EXPECT_THAT(forecast_of(model_, point).mean, DoubleNear(plane(point), 0.1)) << point;
  }
}

TEST_F(SurrogateOfAPlane, IsLessUncertainNearAnAwaitedPoint) {
  const Forecast before = forecast_of(model_, 38);
  model_.await({37});
  EXPECT_LT(forecast_of(model_, 38).deviation, before.deviation);
  EXPECT_THAT(forecast_of(model_, 38).mean, DoubleNear(before.mean, 0.05));
}

TEST_F(SurrogateOfAPlane, ForgetsWhatItKnew) {
  model_.learn({{0, 5.0}, {99, 5.0}});
  EXPECT_THAT(forecast_of(model_, 44).mean, DoubleNear(5.0, 1e-6));
}

TEST(Surrogate, FollowsGuessesThatAreRight) {
  SearchSpace space = grid_space(100);
  for (std::size_t point = 0; point < 100; ++point) {  // nothing that the parameters would show
    space.points[point].guess_us = std::exp(std::sin(static_cast<double>(point * point)));
  }
  const auto value = [&](std::size_t point) { return std::log(space.points[point].guess_us); };
  Surrogate model(space.points);
  std::vector<KnownValue> known;
  for (std::size_t point = 0; point < 100; point += 3) {
    known.push_back({point, value(point)});
  }
  model.learn(known);
  for (const std::size_t point : {10U, 50U, 71U}) {
    EXPECT_THAT(forecast_of(model, point).mean, DoubleNear(value(point), 0.2)) << point;
  }
}

TEST(Surrogate, KnowsLittleOfAnotherFamily) {
  SearchSpace space = grid_space(100);
  space.points[50].config.family = "other";
  Surrogate model(space.points);
  model.learn(known_on({40, 41, 51, 52, 60, 61, 5, 95}));
  EXPECT_GT(forecast_of(model, 50).deviation, 2.0 * forecast_of(model, 53).deviation);
  EXPECT_GT(model.distance(49, 50), model.distance(49, 51));
}

TEST(Surrogate, KeepsToEqualValues) {
  Surrogate model(grid_space(100).points);
  model.learn({{3, 0.25}, {30, 0.25}, {60, 0.25}});
  EXPECT_THAT(forecast_of(model, 61).mean, DoubleNear(0.25, 1e-9));
  EXPECT_GT(forecast_of(model, 61).deviation, 0.0);
}

TEST(Forecast, ComparesWithABound) {
  const Forecast forecast{0.0, 1.0};
  EXPECT_THAT(forecast.probability_below(0.0), DoubleNear(0.5, 1e-12));
  EXPECT_THAT(forecast.probability_below(-1.6449), DoubleNear(0.05, 1e-4));
  EXPECT_THAT(forecast.expected_improvement(0.0), DoubleNear(0.39894, 1e-5));
  EXPECT_THAT(forecast.expected_improvement(-3.0), DoubleNear(0.00038, 1e-5));
}

}  // namespace
}  // namespace fatune
