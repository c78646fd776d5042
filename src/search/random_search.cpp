#include "search/random_search.hpp"

#include <algorithm>
#include <utility>

namespace fatune {

RandomSource::RandomSource(SearchSpace space, std::size_t most_tried, std::uint64_t seed)
    : PointSource(std::move(space), most_tried), left_(untried()) {
  std::mt19937_64 random(seed);
  std::ranges::shuffle(left_, random);
}

std::vector<PointSource::Pick> RandomSource::pick(std::size_t most) {
  std::vector<Pick> picks;
  for (; !left_.empty() && picks.size() < most; left_.pop_back()) {
    if (state(left_.back()) == State::untried) {
      picks.push_back({left_.back(), "random"});
    }
  }
  return picks;
}

}  // namespace fatune
