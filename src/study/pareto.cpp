#include "study/pareto.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace fatune {

std::vector<std::size_t> pareto_front(const std::vector<Costs>& costs) {
  std::vector<std::size_t> order(costs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    return costs[a].first != costs[b].first ? costs[a].first < costs[b].first
                                            : costs[a].second < costs[b].second;
  });
  std::vector<std::size_t> front;
  double least_second = std::numeric_limits<double>::infinity();
  for (const std::size_t i : order) {
    const bool same_as_last = !front.empty() && costs[i].first == costs[front.back()].first &&
                              costs[i].second == costs[front.back()].second;
    if (costs[i].second < least_second || same_as_last) {
      front.push_back(i);
      least_second = costs[i].second;
    }
  }
  return front;
}

}  // namespace fatune
