#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "search/candidate_source.hpp"

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
  void suggest(const std::vector<Suggestion>& suggested) final;
  [[nodiscard]] std::vector<Proposal> propose_again(const std::vector<Config>& configs) final;
  void observe(const Config& config, const Outcome& outcome) final;
  [[nodiscard]] bool finished() const final;
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

}  // namespace fatune
