#include "race/choose_search.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "base/ranges.hpp"
#include "race/point_source.hpp"
#include "race/surrogate.hpp"

namespace fatune {
namespace {

/// The number of known outcomes from which a model is learned.
constexpr std::size_t kFirst = 12;
/// Times are learned as logarithms relative to the fastest one. Greater ones count as this, as do
/// failures: how slow a slow configuration is says little about the fast ones.
constexpr double kSlow = 0.15;
/// The cost of a try without compiling, relative to one with it: on an H100 with 16 compilers, 5 to
/// 10 ms against 50 to 90.
constexpr double kCostWithCode = 0.1;

/// Proposes the points from which a model of the times, learned from the measurements so far,
/// expects the greatest gain for what a try costs. The first proposals, before there is enough to
/// learn from, are spread over the space, and half of them are the lowest guesses (docs/search.md).
class ModelSource : public PointSource {
 public:
  ModelSource(SearchSpace space, std::size_t most_tried, std::uint64_t seed)
      : PointSource(std::move(space), most_tried),
        most_first_(std::max(kFirst, most_tried / 2)),
        random_(seed),
        model_(this->space().points) {}

  [[nodiscard]] bool learns() const override { return true; }

 protected:
  [[nodiscard]] std::vector<Pick> pick(std::size_t most) override {
    if (us_.size() < kFirst) {
      return pick_first(most);
    }
    model_.learn(known_values());
    model_.await(points_in(State::open));
    std::vector<std::size_t> left = points_to_consider();
    std::vector<Pick> picks;
    while (picks.size() < most && !left.empty()) {
      const std::vector<Forecast> forecasts = model_.forecast(left);
      if (suffices(forecasts)) {
        return picks;
      }
      const std::size_t place = most_promising(left, forecasts);
      picks.push_back({left[place], "model"});
      model_.await({picks.back().point});
      left.erase(left.begin() + static_cast<std::ptrdiff_t>(place));
    }
    return picks;
  }

  void learn(std::size_t point, std::optional<double> us) override { us_[point] = us; }

  /// Whether the search may end although points are left. `forecasts`: of untried points.
  [[nodiscard]] virtual bool suffices(const std::vector<Forecast>& /*forecasts*/) const {
    return false;
  }

 private:
  /// Returns the position in `left` of the point that is farthest from those tried. Only a few
  /// random points are considered, because the farthest of all are at the edges of the space.
  [[nodiscard]] std::size_t farthest_of_some(const std::vector<std::size_t>& left) {
    constexpr int kSome = 60;
    std::vector<std::size_t> tried = first_;
    for (std::size_t point = 0; point < size(); ++point) {
      if (state(point) != State::untried) {
        tried.push_back(point);
      }
    }
    std::size_t place = 0;
    double farthest = -1.0;
    for (int i = 0; i < kSome; ++i) {
      const std::size_t other = random_() % left.size();
      double distance = std::numeric_limits<double>::infinity();
      for (const std::size_t point : tried) {
        distance = std::min(distance, model_.distance(point, left[other]));
      }
      if (distance > farthest) {
        farthest = distance;
        place = other;
      }
    }
    return place;
  }

  /// Every second pick, counted over all calls, is the point with the lowest guess. The others are
  /// far from all earlier ones: a model says little about a part of the space that it has not seen.
  [[nodiscard]] std::vector<Pick> pick_first(std::size_t most) {
    std::vector<std::size_t> left = untried();
    std::ranges::shuffle(left, random_);
    std::ranges::stable_sort(left, {}, [this](std::size_t point) { return at(point).guess_us; });
    std::vector<Pick> picks;
    while (!left.empty() && picks.size() < most && first_.size() < most_first_) {
      const bool by_guess = first_.size() % 2 == 0;
      const std::size_t place = by_guess ? 0 : farthest_of_some(left);
      picks.push_back({left[place], by_guess ? "estimate" : "spread"});
      first_.push_back(left[place]);
      left.erase(left.begin() + static_cast<std::ptrdiff_t>(place));
    }
    return picks;
  }

  /// Returns the position of the point with the greatest expected improvement for its cost. A point
  /// with known machine code costs kCostWithCode, any other 1.
  [[nodiscard]] std::size_t most_promising(const std::vector<std::size_t>& left,
                                           const std::vector<Forecast>& forecasts) {
    const auto gains =
        mapped(forecasts, [](const Forecast& one) { return one.expected_improvement(0.0); });
    std::size_t best = static_cast<std::size_t>(std::ranges::max_element(gains) - gains.begin());
    double greatest = kCostWithCode * gains[best];
    for (std::size_t i = 0; i < left.size(); ++i) {
      if (gains[i] > greatest && has_code(left[i])) {
        greatest = gains[i];
        best = i;
      }
    }
    return best;
  }

  [[nodiscard]] bool has_code(std::size_t point) {
    const auto [found, is_new] = has_code_.try_emplace(point, false);
    if (is_new && space().has_code) {
      found->second = space().has_code(at(point).config);
    }
    return found->second;
  }

  /// The untried points; of very many, the neighbours of the fastest ones, and others at random.
  [[nodiscard]] std::vector<std::size_t> points_to_consider() {
    constexpr std::size_t kMost = 800;
    constexpr std::size_t kFastest = 3;
    std::vector<std::size_t> left = untried();
    if (left.size() <= kMost) {
      return left;
    }
    std::vector<std::pair<double, std::size_t>> fastest;
    for (const auto& [point, us] : us_) {
      if (us) {
        fastest.emplace_back(*us, point);
      }
    }
    std::ranges::sort(fastest);
    fastest.resize(std::min(fastest.size(), kFastest));
    std::ranges::shuffle(left, random_);
    const auto others = std::ranges::stable_partition(left, [&](std::size_t point) {
      return std::ranges::any_of(fastest, [&](const auto& fast) {
        return are_neighbours(at(fast.second).config, at(point).config);
      });
    });
    const std::size_t near = left.size() - others.size();
    left.resize(std::max(near, kMost));
    return left;
  }

  [[nodiscard]] std::vector<KnownValue> known_values() const {
    double best_us = std::numeric_limits<double>::infinity();
    for (const auto& [point, us] : us_) {
      best_us = std::min(best_us, us.value_or(best_us));
    }
    std::vector<KnownValue> known;
    for (const auto& [point, us] : us_) {
      known.push_back({point, us ? std::min(kSlow, std::log(*us / best_us)) : kSlow});
    }
    return known;
  }

  std::size_t most_first_;  ///< the most to propose before outcomes are known: half of all
  std::mt19937_64 random_;
  Surrogate model_;
  std::vector<std::size_t> first_;                   ///< proposed before there was a model
  std::map<std::size_t, std::optional<double>> us_;  ///< keyed by point; only known outcomes
  std::map<std::size_t, bool> has_code_;  ///< keyed by point; only points that were asked about
};

/// Proposes as ModelSource does, and ends once each of the points left is unlikely to be faster
/// than the fastest known one by more than kGainThatCounts.
class AutomaticSource : public ModelSource {
 public:
  static constexpr std::size_t kUsualLeast =
      48;  ///< it ends by itself; PointSource's is for others

  using ModelSource::ModelSource;

 protected:
  [[nodiscard]] bool suffices(const std::vector<Forecast>& forecasts) const override {
    constexpr double kUnlikely = 0.03;
    return std::ranges::all_of(forecasts, [](const Forecast& one) {
      return one.probability_below(-kGainThatCounts) < kUnlikely;
    });
  }
};

template <typename Source>
std::shared_ptr<const CandidateSearch> limited(SearchKind kind, const SearchLimits& limits) {
  return std::make_shared<LimitedSearch<Source>>(enum_name(kind), limits);
}

/// Searches small problems exhaustively, and others with another search.
class BySize : public CandidateSearch {
 public:
  BySize(std::size_t most_exhaustive, std::shared_ptr<const CandidateSearch> large)
      : most_exhaustive_(most_exhaustive), large_(std::move(large)) {}

  [[nodiscard]] std::string name() const override { return large_->name(); }
  [[nodiscard]] std::unique_ptr<CandidateSource> begin(SearchSpace space) const override {
    const CandidateSearch& search = of(space.points.size());
    return search.begin(std::move(space));
  }
  [[nodiscard]] std::size_t most_tried(std::size_t configs) const override {
    return of(configs).most_tried(configs);
  }

 private:
  [[nodiscard]] const CandidateSearch& of(std::size_t configs) const {
    return configs <= most_exhaustive_ ? small_ : *large_;
  }

  std::size_t most_exhaustive_;
  ExhaustiveSearch small_;
  std::shared_ptr<const CandidateSearch> large_;
};

}  // namespace

bool learns(SearchKind kind, const SearchLimits& limits, std::size_t greatest) {
  return kind == SearchKind::local || kind == SearchKind::model ||
         (kind == SearchKind::automatic && greatest > most_exhaustive(limits));
}

std::shared_ptr<const CandidateSearch> choose_search(SearchKind kind, const SearchLimits& limits,
                                                     std::size_t greatest) {
  switch (kind) {
    case SearchKind::exhaustive:
      return std::make_shared<ExhaustiveSearch>(limits.max_configs);
    case SearchKind::random:
      return limited<RandomSource>(kind, limits);
    case SearchKind::local:
      return limited<LocalSource>(kind, limits);
    case SearchKind::model:
      return limited<ModelSource>(kind, limits);
    case SearchKind::automatic:
      break;
  }
  if (!learns(kind, limits, greatest)) {
    return std::make_shared<ExhaustiveSearch>();
  }
  return std::make_shared<BySize>(most_exhaustive(limits), limited<AutomaticSource>(kind, limits));
}

}  // namespace fatune
