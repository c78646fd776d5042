#include "race/point_source.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include <fmt/format.h>

namespace fatune {
namespace {

constexpr std::string_view kRequired = "plan";
constexpr std::string_view kEarlier = "interrupted run";

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

PointSource::PointSource(SearchSpace space, std::size_t most_tried)
    : space_(std::move(space)),
      states_(size(), State::untried),
      suggested_(space_.suggested.begin(), space_.suggested.end()),
      most_tried_(most_tried),
      budget_(most_tried),
      untried_count_(size()) {
  for (std::size_t point = size(); point-- > 0;) {
    by_config_.emplace(at(point).config, point);
    if (at(point).required) {
      required_.push_back(point);
    }
  }
}

std::vector<Proposal> PointSource::propose(std::size_t most) {
  std::vector<Proposal> proposals;
  while (!required_.empty() && proposals.size() < most) {
    proposals.push_back(take({required_.back(), kRequired}));
    required_.pop_back();
  }
  if (learns()) {
    take_suggested(most, proposals);
  }
  const std::size_t left = std::min({most - proposals.size(), budget_, untried_count_});
  if (left > 0) {
    for (const Pick& next : pick(left)) {
      proposals.push_back(take(next));
      --budget_;
    }
    suffices_ = open_ == 0;
  }
  return proposals;
}

void PointSource::take_suggested(std::size_t most, std::vector<Proposal>& proposals) {
  for (; !suggested_.empty() && proposals.size() < most && budget_ > 0; suggested_.pop_front()) {
    const std::optional<std::size_t> point = find(suggested_.front().config);
    if (point && state(*point) == State::untried) {
      proposals.push_back(take({*point, suggested_.front().proposed_by}));
      --budget_;
    }
  }
}

std::vector<Proposal> PointSource::propose_again(const std::vector<Config>& configs) {
  std::vector<Proposal> proposals;
  for (const Config& config : configs) {
    const std::optional<std::size_t> point = find(config);
    if (point && state(*point) == State::untried) {
      const bool counts = std::erase(required_, *point) == 0;
      budget_ -= counts && budget_ > 0 ? 1U : 0U;
      proposals.push_back(take({*point, kEarlier}));
    }
  }
  return proposals;
}

Proposal PointSource::take(const Pick& pick) {
  states_.at(pick.point) = State::open;
  ++open_;
  --untried_count_;
  const SearchPoint& point = at(pick.point);
  return {point.config, point.pruned_by, std::string(pick.by)};
}

void PointSource::observe(const Config& config, const Outcome& outcome) {
  const std::optional<std::size_t> point = find(config);
  if (!point) {
    return;
  }
  if (std::exchange(states_.at(*point), State::ended) == State::open) {
    --open_;
  }
  learn(*point, is_ranked(outcome) ? std::optional(ranked_us(outcome)) : std::nullopt);
}

std::string PointSource::untried_because() const {
  return untried_count_ == 0 ? ""
         : budget_ == 0      ? fmt::format("the search tries at most {}", most_tried_)
         : suffices_ ? fmt::format("each is unlikely to be over {} % faster than the fastest",
                                   100.0 * kGainThatCounts)
                     : "";
}

std::vector<std::size_t> PointSource::points_in(State wanted) const {
  std::vector<std::size_t> points;
  for (std::size_t point = 0; point < size(); ++point) {
    if (state(point) == wanted) {
      points.push_back(point);
    }
  }
  return points;
}

std::optional<std::size_t> PointSource::find(const Config& config) const {
  const auto found = by_config_.find(config);
  return found == by_config_.end() ? std::nullopt : std::optional(found->second);
}

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

bool are_neighbours(const Config& a, const Config& b) {
  return a.family == b.family && a.values.size() == b.values.size() &&
         std::inner_product(a.values.begin(), a.values.end(), b.values.begin(), 0, std::plus<>(),
                            std::not_equal_to<>()) == 1;
}

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

std::string ExhaustiveSearch::name() const {
  return max_configs_ ? fmt::format("exhaustive, at most {}", *max_configs_) : std::string();
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
