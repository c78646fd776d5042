#include "search/local_search.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

namespace fatune {

bool are_neighbours(const Config& a, const Config& b) {
  return a.family == b.family && a.values.size() == b.values.size() &&
         std::inner_product(a.values.begin(), a.values.end(), b.values.begin(), 0, std::plus<>(),
                            std::not_equal_to<>()) == 1;
}

LocalSource::LocalSource(SearchSpace space, std::size_t most_tried, std::uint64_t seed)
    : PointSource(std::move(space), most_tried), random_(seed), in_descent_(size(), true) {}

std::vector<PointSource::Pick> LocalSource::pick(std::size_t most) {
  std::vector<Pick> picks;
  for (; !neighbours_.empty() && picks.size() < most; neighbours_.pop_back()) {
    const std::size_t next = neighbours_.back();
    if (state(next) == State::untried) {
      in_descent_[next] = true;
      picks.push_back({next, "local"});
    }
  }
  return picks.empty() && open() == 0 ? begin_descent(most) : picks;
}

std::vector<PointSource::Pick> LocalSource::begin_descent(std::size_t most) {
  std::vector<std::size_t> starts = untried();
  if (std::exchange(has_begun_, true)) {
    in_descent_.assign(size(), false);
    std::ranges::shuffle(starts, random_);
  } else {
    std::ranges::stable_sort(starts, {}, [this](std::size_t point) { return at(point).guess_us; });
  }
  starts.resize(std::min(most, starts.size()));
  centre_us_ = std::numeric_limits<double>::infinity();
  std::vector<Pick> picks;
  for (const std::size_t start : starts) {
    in_descent_[start] = true;
    picks.push_back({start, "local"});
  }
  return picks;
}

void LocalSource::learn(std::size_t point, std::optional<double> us) {
  if (us && in_descent_[point] && *us < centre_us_) {
    centre_us_ = *us;
    move_to(point);
  }
}

void LocalSource::move_to(std::size_t centre) {
  neighbours_ = untried();
  std::erase_if(neighbours_, [&](std::size_t point) {
    return !are_neighbours(at(point).config, at(centre).config);
  });
  std::ranges::shuffle(neighbours_, random_);
}

}  // namespace fatune
