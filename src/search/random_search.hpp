#pragma once

#include <random>
#include <vector>

#include "search/point_source.hpp"

namespace fatune {

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
