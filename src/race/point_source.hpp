#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "race/candidate_source.hpp"

namespace fatune {

/// The relative gain of time that an automatic search looks for.
inline constexpr double kGainThatCounts = 0.005;

/// The common part of all searches: it knows which points were tried and what came of them, which
/// points are required, and how many may be tried. A derived class says which points come next.
class PointSource : public CandidateSource {
 public:
  /// The least that a search of many points tries without an explicit limit: enough for a model to
  /// learn from.
  static constexpr std::size_t kUsualLeast = 128;

  [[nodiscard]] std::vector<Proposal> propose(std::size_t most) final;
  void suggest(const std::vector<Suggestion>& suggested) final {
    suggested_.insert(suggested_.end(), suggested.begin(), suggested.end());
  }
  [[nodiscard]] std::vector<Proposal> propose_again(const std::vector<Config>& configs) final;
  void observe(const Config& config, const Outcome& outcome) final;
  [[nodiscard]] bool finished() const final {
    return required_.empty() && (budget_ == 0 || untried_count_ == 0 || suffices_);
  }
  [[nodiscard]] std::size_t untried_count() const final { return untried_count_; }
  [[nodiscard]] std::string untried_because() const final;

 protected:
  /// The state of a point's outcome.
  enum class State { untried, open, ended };
  /// A point, and what proposes it.
  struct Pick {
    std::size_t point = 0;
    std::string_view by;
  };

  /// `most_tried` does not count required points.
  PointSource(SearchSpace space, std::size_t most_tried);

  /// Returns up to `most` untried points to try, none twice. Called only if some points are left
  /// that may be tried.
  /// The search ends if it returns none although all outcomes are known.
  [[nodiscard]] virtual std::vector<Pick> pick(std::size_t most) = 0;
  /// Reports that the outcome of a point is known, or known more precisely. No time: it failed.
  virtual void learn(std::size_t /*point*/, std::optional<double> /*us*/) {}

  [[nodiscard]] const SearchSpace& space() const noexcept { return space_; }
  [[nodiscard]] const SearchPoint& at(std::size_t point) const { return space_.points.at(point); }
  [[nodiscard]] std::size_t size() const noexcept { return space_.points.size(); }
  [[nodiscard]] State state(std::size_t point) const { return states_.at(point); }
  [[nodiscard]] std::vector<std::size_t> untried() const { return points_in(State::untried); }
  /// The points in this state, as indices in ascending order.
  [[nodiscard]] std::vector<std::size_t> points_in(State wanted) const;
  /// The number of points that were proposed and whose outcome is not known.
  [[nodiscard]] std::size_t open() const noexcept { return open_; }
  [[nodiscard]] std::optional<std::size_t> find(const Config& config) const;

 private:
  [[nodiscard]] Proposal take(const Pick& pick);
  void take_suggested(std::size_t most, std::vector<Proposal>& proposals);

  SearchSpace space_;
  std::map<Config, std::size_t> by_config_;
  std::vector<State> states_;
  std::vector<std::size_t> required_;  ///< not yet proposed, the next one last
  std::deque<Suggestion> suggested_;   ///< not yet considered
  std::size_t most_tried_;             ///< required ones not counted
  std::size_t budget_;                 ///< how many more may be proposed, required ones not counted
  std::size_t untried_count_;
  std::size_t open_ = 0;
  bool suffices_ = false;  ///< pick() has ended the search
};

/// Proposes points in shuffled order.
class RandomSource : public PointSource {
 public:
  RandomSource(SearchSpace space, std::size_t most_tried, std::uint64_t seed);

  [[nodiscard]] bool learns() const override { return false; }

 protected:
  [[nodiscard]] std::vector<Pick> pick(std::size_t most) override;

 private:
  std::vector<std::size_t> left_;  ///< the next one last
};

/// Whether two configurations of one family differ in exactly one parameter.
[[nodiscard]] bool are_neighbours(const Config& a, const Config& b);

/// Greedy iterated local search. A descent begins with as many points as are requested: the first
/// descent with the points of the lowest guesses, later ones with random points. The fastest point
/// of a descent is its centre, whose neighbours are tried in shuffled order. A faster point becomes
/// the centre at once. When all neighbours are slower, another descent begins.
class LocalSource : public PointSource {
 public:
  LocalSource(SearchSpace space, std::size_t most_tried, std::uint64_t seed)
      : PointSource(std::move(space), most_tried), random_(seed), in_descent_(size(), true) {}

  [[nodiscard]] bool learns() const override { return true; }

 protected:
  [[nodiscard]] std::vector<Pick> pick(std::size_t most) override;
  void learn(std::size_t point, std::optional<double> us) override;

 private:
  [[nodiscard]] std::vector<Pick> begin_descent(std::size_t most);
  void move_to(std::size_t centre);

  std::mt19937_64 random_;
  std::vector<bool> in_descent_;  ///< indexed by point
  bool has_begun_ = false;
  double centre_us_ = std::numeric_limits<double>::infinity();
  std::vector<std::size_t> neighbours_;  ///< neighbours of the centre, the next one last
};

/// Tries all configurations of the plan, and those that are audited. Configurations that cannot run
/// come first, in the plan's order; the others are ordered by their guessed times. A limit cuts the
/// list short.
class ExhaustiveSearch : public CandidateSearch {
 public:
  explicit ExhaustiveSearch(std::optional<std::size_t> max_configs = {})
      : max_configs_(max_configs) {}

  [[nodiscard]] std::string name() const override;
  [[nodiscard]] std::unique_ptr<CandidateSource> begin(SearchSpace space) const override;
  [[nodiscard]] std::size_t most_tried(std::size_t configs) const override {
    return std::min(configs, max_configs_.value_or(configs));
  }

 private:
  std::optional<std::size_t> max_configs_;
};

}  // namespace fatune
