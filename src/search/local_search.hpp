#pragma once

#include <deque>
#include <limits>
#include <random>
#include <vector>

#include "search/point_source.hpp"

namespace fatune {

/// Whether two configurations of one family differ in exactly one parameter.
[[nodiscard]] bool are_neighbours(const Config& a, const Config& b);

/// Greedy iterated local search. A descent begins with as many points as are requested: the first
/// descent with the points of the lowest guesses, later ones with random points. The fastest point
/// of a descent is its centre, whose neighbours are tried in shuffled order. A faster point becomes
/// the centre at once. When all neighbours are slower, another descent begins.
class LocalSource : public PointSource {
 public:
  LocalSource(SearchSpace space, std::size_t most_tried, std::uint64_t seed);

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

}  // namespace fatune
