#pragma once

#include <cstddef>
#include <vector>

namespace fatune {

struct Costs {
  double first = 0.0;
  double second = 0.0;
};

/// Returns the indices of the costs that no other one dominates (at least as good in both, better
/// in one), by ascending first cost. Less is better. Equal costs are all included.
[[nodiscard]] std::vector<std::size_t> pareto_front(const std::vector<Costs>& costs);

}  // namespace fatune
