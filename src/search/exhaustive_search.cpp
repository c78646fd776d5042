#include "search/exhaustive_search.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "search/point_source.hpp"

namespace fatune {
namespace {

/// Proposes the points in their order.
class ListSource : public PointSource {
 public:
  ListSource(SearchSpace space, std::size_t most_tried)
      : PointSource(std::move(space), most_tried) {}

  [[nodiscard]] bool learns() const override { return false; }

 protected:
  [[nodiscard]] std::vector<Pick> pick(std::size_t most) override {
    std::vector<Pick> picks;
    for (; next_ < size() && picks.size() < most; ++next_) {
      if (state(next_) == State::untried) {
        picks.push_back({next_, "exhaustive"});
      }
    }
    return picks;
  }

 private:
  std::size_t next_ = 0;
};

}  // namespace

std::string ExhaustiveSearch::name() const {
  return max_configs_ ? fmt::format("exhaustive, at most {}", *max_configs_) : std::string();
}

std::size_t ExhaustiveSearch::most_tried(std::size_t configs) const {
  return std::min(configs, max_configs_.value_or(configs));
}

std::unique_ptr<CandidateSource> ExhaustiveSearch::begin(SearchSpace space) const {
  std::ranges::stable_sort(space.points, {}, &SearchPoint::guess_us);
  if (!max_configs_) {  // all are tried: none needs to come first
    std::ranges::for_each(space.points, [](SearchPoint& point) { point.required = false; });
  }
  const std::size_t most = most_tried(space.points.size());
  return std::make_unique<ListSource>(std::move(space), most);
}

}  // namespace fatune
