#include "race/choose_search.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "race/point_source.hpp"

namespace fatune {
namespace {

constexpr std::string_view kPromising = "sample";
// Two cores compile and emulate about as many configurations in a minute.
constexpr std::size_t kMostWhole = 80;
constexpr std::size_t kMostSampled = 64;
constexpr std::size_t kLeastOfProblem = 12;
// Guesses that differ by less are not worth an order (docs/estimate.md).
constexpr double kPromisingRatio = 1.1;

class Choice {
 public:
  explicit Choice(const std::vector<SearchPoint>& points) : points_(points) {
    for (std::size_t point = 0; point < points.size(); ++point) {
      if (points[point].guess_us > 0.0 && !points[point].required) {
        left_[points[point].config.family].push_back(point);
      }
    }
    for (auto& [family, left] : left_) {
      std::ranges::stable_sort(left, {}, [&](std::size_t point) { return points[point].guess_us; });
    }
  }

  void take_suggested(const std::vector<Suggestion>& suggested, std::size_t most) {
    for (const Suggestion& suggestion : suggested) {
      const auto& family = suggestion.config.family;
      const auto found = std::ranges::find_if(left_[family], [&](std::size_t point) {
        return points_[point].config == suggestion.config;
      });
      if (picks_.size() < most && found != left_[family].end()) {
        take(left_[family], found, suggestion.proposed_by);
      }
    }
  }

  /// Takes one of each family in turn until there are `most`, or none is left.
  void take_promising(std::size_t most) {
    bool any = true;
    while (std::exchange(any, false)) {
      for (auto& [family, left] : left_) {
        if (picks_.size() < most && !left.empty()) {
          take(left, most_different(left), std::string(kPromising));
          any = true;
        }
      }
    }
  }

  /// The chosen points, each with what proposes it.
  [[nodiscard]] const std::map<std::size_t, std::string>& picks() const noexcept { return picks_; }

 private:
  using Points = std::vector<std::size_t>;

  /// The point with the most values that no chosen one of its family has, among those that promise
  /// about as much as the first.
  [[nodiscard]] Points::iterator most_different(Points& left) const {
    const double most_us = kPromisingRatio * points_[left.front()].guess_us;
    const auto end = std::ranges::upper_bound(
        left, most_us, {}, [&](std::size_t point) { return points_[point].guess_us; });
    return std::ranges::max_element(
        left.begin(), end, {}, [&](std::size_t point) { return count_new(points_[point].config); });
  }

  [[nodiscard]] std::size_t count_new(const Config& config) const {
    std::size_t count = 0;
    for (std::size_t i = 0; i < config.values.size(); ++i) {
      count += seen_.contains({config.family, i, config.values[i]}) ? 0U : 1U;
    }
    return count;
  }

  void take(Points& left, Points::iterator at, std::string by) {
    const Config& config = points_[*at].config;
    for (std::size_t i = 0; i < config.values.size(); ++i) {
      seen_.insert({config.family, i, config.values[i]});
    }
    picks_.emplace(*at, std::move(by));
    left.erase(at);
  }

  struct Value {
    std::string family;
    std::size_t parameter = 0;
    std::int64_t value = 0;
    auto operator<=>(const Value&) const = default;
  };

  const std::vector<SearchPoint>& points_;
  std::map<std::string, Points> left_;  ///< each family's points, the most promising first
  std::set<Value> seen_;                ///< values of the chosen points
  std::map<std::size_t, std::string> picks_;
};

/// Proposes the chosen points, the most promising first.
class SampleSource : public PointSource {
 public:
  using Picks = std::map<std::size_t, std::string>;

  /// `picks`: the chosen points, each with what proposes it.
  SampleSource(SearchSpace space, Picks picks)
      : PointSource(std::move(space), picks.size()), picks_(std::move(picks)) {}

  [[nodiscard]] bool learns() const override { return false; }

 protected:
  [[nodiscard]] std::vector<Pick> pick(std::size_t most) override {
    std::vector<Pick> picks;
    for (const auto& [point, by] : picks_) {
      if (state(point) == State::untried) {
        picks.push_back({point, by});
      }
    }
    std::ranges::stable_sort(picks, {}, [&](const Pick& pick) { return at(pick.point).guess_us; });
    picks.resize(std::min(picks.size(), most));
    return picks;
  }

 private:
  Picks picks_;
};

class PromisingSample : public CandidateSearch {
 public:
  explicit PromisingSample(std::size_t most) : most_(most) {}

  [[nodiscard]] std::string name() const override {
    return fmt::format("sample, at most {}", most_);
  }
  [[nodiscard]] std::size_t most_tried(std::size_t configs) const override {
    return std::min(configs, most_);
  }
  [[nodiscard]] std::unique_ptr<CandidateSource> begin(SearchSpace space) const override {
    const auto cannot_run = [](const SearchPoint& point) { return point.guess_us <= 0.0; };
    if (space.points.size() <= most_ || std::ranges::all_of(space.points, cannot_run)) {
      return ExhaustiveSearch().begin(std::move(space));
    }
    std::erase_if(space.points,
                  [&](const SearchPoint& point) { return cannot_run(point) && !point.required; });
    Choice choice(space.points);
    choice.take_suggested(std::exchange(space.suggested, {}), most_ / 3);
    choice.take_promising(most_);
    return std::make_unique<SampleSource>(std::move(space), choice.picks());
  }

 private:
  std::size_t most_;
};

}  // namespace

std::shared_ptr<const CandidateSearch> promising_sample(std::size_t most) {
  return std::make_shared<PromisingSample>(most);
}

std::size_t sample_size(std::size_t configs, std::size_t problems) {
  return configs <= kMostWhole
             ? configs
             : std::max(kLeastOfProblem, kMostSampled / std::max<std::size_t>(problems, 1));
}

}  // namespace fatune
