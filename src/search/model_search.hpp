#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <vector>

#include "search/point_source.hpp"
#include "search/surrogate.hpp"

namespace fatune {

/// Proposes the points from which a model of the times, learned from the measurements so far,
/// expects the greatest gain for what a try costs. The first proposals, before there is enough to
/// learn from, are spread over the space, and half of them are the lowest guesses (docs/search.md).
class ModelSource : public PointSource {
 public:
  ModelSource(SearchSpace space, std::size_t most_tried, std::uint64_t seed);

  [[nodiscard]] bool learns() const override { return true; }

 protected:
  [[nodiscard]] std::vector<Pick> pick(std::size_t most) override;
  void learn(std::size_t point, std::optional<double> us) override;
  /// Whether the search may end although points are left. `forecasts`: of untried points.
  [[nodiscard]] virtual bool suffices(const std::vector<Forecast>& /*forecasts*/) const {
    return false;
  }

 private:
  [[nodiscard]] std::size_t farthest_of_some(const std::vector<std::size_t>& left);
  [[nodiscard]] std::vector<Pick> pick_first(std::size_t most);
  [[nodiscard]] std::size_t most_promising(const std::vector<std::size_t>& left,
                                           const std::vector<Forecast>& forecasts);
  [[nodiscard]] bool has_code(std::size_t point);
  [[nodiscard]] std::vector<std::size_t> points_to_consider();
  [[nodiscard]] std::vector<KnownValue> known_values() const;

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
  [[nodiscard]] bool suffices(const std::vector<Forecast>& forecasts) const override;
};

}  // namespace fatune
