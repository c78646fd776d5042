#include "search/model_search.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace fatune {
namespace {

/// How many are proposed before there is a model.
constexpr std::size_t kFirst = 16;

}  // namespace

ModelSource::ModelSource(SearchSpace space, std::size_t most_tried, std::uint64_t seed)
    : PointSource(std::move(space), most_tried), random_(seed), seed_(seed), features_(size()) {}

void ModelSource::learn(std::size_t point, std::optional<double> us) { us_[point] = us; }

std::vector<PointSource::Pick> ModelSource::pick(std::size_t most) {
  if (us_.empty() || us_.size() + open() < kFirst) {
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

/// In turn the point of the least guess and a random one, also over several calls.
std::vector<PointSource::Pick> ModelSource::pick_first(std::size_t most) {
  std::vector<std::size_t> left = untried();
  std::ranges::shuffle(left, random_);
  std::ranges::stable_sort(left, {}, [this](std::size_t point) { return at(point).guess_us; });
  std::vector<Pick> picks;
  for (std::size_t proposed = us_.size() + open(); !left.empty() && picks.size() < most;
       ++proposed) {
    const bool by_guess = proposed % 2 == 0;
    const std::size_t place = by_guess ? 0 : random_() % left.size();
    picks.push_back({left[place], by_guess ? "estimate" : "random"});
    left.erase(left.begin() + static_cast<std::ptrdiff_t>(place));
  }
  return picks;
}

/// Whether a tenth more is known than the ranking is made of: learning from each outcome costs more
/// than it finds.
bool ModelSource::knows_more() const {
  return us_.size() > ranked_from_ && us_.size() >= ranked_from_ + ranked_from_ / 10;
}

void ModelSource::rank_untried() {
  ranked_from_ = us_.size();
  const std::vector<std::size_t> left = untried();
  const std::vector<float> predicted = predict(left);
  std::vector<std::pair<float, std::size_t>> ranked;
  for (std::size_t i = 0; i < left.size(); ++i) {
    ranked.emplace_back(predicted[i], left[i]);
  }
  std::ranges::sort(ranked, std::greater<>());
  ranking_.clear();
  for (const auto& [prediction, point] : ranked) {
    ranking_.push_back(point);
  }
}

/// What the model says of points, of which there is at least one: the less, the faster.
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

/// Of each known point, the part of the others that are faster. What failed is as bad as the
/// slowest one. Ranks tell the fastest ones apart, whatever the others take.
std::vector<float> ModelSource::targets() const {
  constexpr double kFailed = std::numeric_limits<double>::infinity();
  std::vector<double> sorted;
  for (const auto& [point, us] : us_) {
    sorted.push_back(us.value_or(kFailed));
  }
  std::ranges::sort(sorted);
  std::vector<float> targets;
  for (const auto& [point, us] : us_) {
    const auto faster = std::ranges::lower_bound(sorted, us.value_or(kFailed)) - sorted.begin();
    targets.push_back(static_cast<float>(faster) / static_cast<float>(sorted.size()));
  }
  return targets;
}

}  // namespace fatune
