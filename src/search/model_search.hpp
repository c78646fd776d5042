#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <vector>

#include "search/boosted_trees.hpp"
#include "search/parameter_distance.hpp"
#include "search/point_source.hpp"

namespace fatune {

/// Proposes the points that a model of the times, learned from the measurements so far, predicts to
/// be fast. The first proposals, before there is enough to learn from, are spread over the space,
/// and some of them are the lowest guesses (docs/search.md).
class ModelSource : public PointSource {
 public:
  ModelSource(SearchSpace space, std::size_t most_tried, std::uint64_t seed);

  [[nodiscard]] bool learns() const override { return true; }

 protected:
  [[nodiscard]] std::vector<Pick> pick(std::size_t most) override;
  void learn(std::size_t point, std::optional<double> us) override;

 private:
  [[nodiscard]] std::vector<Pick> pick_first(std::size_t most);
  [[nodiscard]] std::size_t farthest_of_some(const std::vector<std::size_t>& left);
  [[nodiscard]] bool knows_more() const;
  void rank_untried();
  [[nodiscard]] std::vector<float> predict(const std::vector<std::size_t>& points);
  [[nodiscard]] FeatureRows rows_of(const std::vector<std::size_t>& points);
  [[nodiscard]] std::vector<float> targets() const;

  std::mt19937_64 random_;
  std::uint64_t seed_;
  ParameterDistance distance_;
  std::vector<std::size_t> first_;                   ///< proposed before there was a model
  std::map<std::size_t, std::optional<double>> us_;  ///< by point; only points with a known outcome
  std::vector<std::vector<float>> features_;         ///< by point; empty: not yet computed
  std::size_t ranked_from_ = 0;                      ///< number of outcomes in the ranking
  std::vector<std::size_t> ranking_;                 ///< by prediction, the best one last
};

}  // namespace fatune
