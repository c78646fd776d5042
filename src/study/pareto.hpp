#pragma once

#include <cstddef>
#include <vector>

namespace fatune {

struct Costs {
  double first = 0.0;
  double second = 0.0;
};

/// The numbers of those that no other is at least as good as in both and better in one, by
/// ascending first cost. Less is better. Equal ones are all in.
[[nodiscard]] std::vector<std::size_t> pareto_front(const std::vector<Costs>& costs);

}  // namespace fatune
