#include "search/model_search.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

namespace fatune {
namespace {

/// The number of known outcomes from which a model is learned.
constexpr std::size_t kFirst = 16;
/// The relative distance to the fastest time at which the target is 1 - 1/e.
constexpr double kClose = 0.05;

}  // namespace

ModelSource::ModelSource(SearchSpace space, std::size_t most_tried, std::uint64_t seed)
    : PointSource(std::move(space), most_tried),
      random_(seed),
      seed_(seed),
      distance_(this->space().points),
      features_(size()) {}

void ModelSource::learn(std::size_t point, std::optional<double> us) { us_[point] = us; }

std::vector<PointSource::Pick> ModelSource::pick(std::size_t most) {
  if (us_.size() < kFirst) {
    return pick_first(most);
  }
  if (knows_more()) {
    rank_untried();
  }
  std::vector<Pick> picks;
  for (; !ranking_.empty() && picks.size() < most; ranking_.pop_back()) {
    if (state(ranking_.back()) == State::untried) {
      picks.push_back({ranking_.back(), "model"});
    }
  }
  return picks;
}

/// Every fourth pick, counted over all calls, is the point with the lowest guess. The others are
/// far from all earlier picks: a model says little about a part of the space that it has not seen.
std::vector<PointSource::Pick> ModelSource::pick_first(std::size_t most) {
  std::vector<std::size_t> left = untried();
  std::ranges::shuffle(left, random_);
  std::ranges::stable_sort(left, {}, [this](std::size_t point) { return at(point).guess_us; });
  std::vector<Pick> picks;
  for (; !left.empty() && picks.size() < most;) {
    const bool by_guess = first_.size() % 4 == 0;
    const std::size_t place = by_guess ? 0 : farthest_of_some(left);
    picks.push_back({left[place], by_guess ? "estimate" : "spread"});
    first_.push_back(left[place]);
    left.erase(left.begin() + static_cast<std::ptrdiff_t>(place));
  }
  return picks;
}

/// Returns the position in `left` of the point that is farthest from the first ones. Only a few
/// random points are considered, because the farthest of all are at the edges of the space.
std::size_t ModelSource::farthest_of_some(const std::vector<std::size_t>& left) {
  constexpr int kSome = 60;
  std::size_t place = 0;
  double farthest = -1.0;
  for (int i = 0; i < kSome; ++i) {
    const std::size_t other = random_() % left.size();
    double distance = std::numeric_limits<double>::infinity();
    for (const std::size_t point : first_) {
      distance = std::min(distance, distance_(at(point).config, at(left[other]).config));
    }
    if (distance > farthest) {
      farthest = distance;
      place = other;
    }
  }
  return place;
}

/// Whether a tenth more outcomes are known than the ranking is based on. Learning from each single
/// outcome costs more than it gains.
bool ModelSource::knows_more() const {
  return us_.size() > ranked_from_ && us_.size() >= ranked_from_ + ranked_from_ / 10;
}

void ModelSource::rank_untried() {
  ranked_from_ = us_.size();
  std::vector<std::size_t> left = untried();
  std::ranges::shuffle(left, random_);  // no fixed order among equal predictions
  const std::vector<float> predicted = predict(left);
  std::vector<std::pair<float, std::size_t>> ranked;
  for (std::size_t i = 0; i < left.size(); ++i) {
    ranked.emplace_back(predicted[i], left[i]);
  }
  std::ranges::stable_sort(ranked, std::greater<>(), &std::pair<float, std::size_t>::first);
  ranking_.clear();
  for (const auto& [prediction, point] : ranked) {
    ranking_.push_back(point);
  }
}

/// Predicts the targets of at least one point. A lower target is faster.
std::vector<float> ModelSource::predict(const std::vector<std::size_t>& points) {
  std::vector<std::size_t> known;
  for (const auto& [point, us] : us_) {
    known.push_back(point);
  }
  const BoostedTrees model(rows_of(known), targets(), seed_ + ranked_from_);
  return model.predict(rows_of(points));
}

FeatureRows ModelSource::rows_of(const std::vector<std::size_t>& points) {
  FeatureRows rows;
  for (const std::size_t point : points) {
    if (features_[point].empty()) {
      features_[point] = space().features(at(point).config);
    }
    rows.columns = features_[point].size();
    rows.add(features_[point]);
  }
  return rows;
}

/// The relative distance of each known point to the fastest one, from 0 to 1. The scale saturates,
/// so that the model distinguishes points that are close to the fastest one. Failed points have 1.
std::vector<float> ModelSource::targets() const {
  double best_us = std::numeric_limits<double>::infinity();
  for (const auto& [point, us] : us_) {
    best_us = std::min(best_us, us.value_or(best_us));
  }
  std::vector<float> targets;
  for (const auto& [point, us] : us_) {
    targets.push_back(us ? static_cast<float>(-std::expm1((1.0 - *us / best_us) / kClose)) : 1.0F);
  }
  return targets;
}

}  // namespace fatune
