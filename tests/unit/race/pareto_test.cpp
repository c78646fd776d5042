#include "race/study_rows.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <random>

namespace fatune {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(ParetoFront, LeavesOutWhatAnotherBeats) {
  EXPECT_THAT(pareto_front({{3, 1}, {1, 3}, {2, 2}, {2, 3}, {3, 3}}), ElementsAre(1, 2, 0));
}

TEST(ParetoFront, KeepsEqualOnesButNoneThatIsBeatenInOneCostAlone) {
  EXPECT_THAT(pareto_front({{1, 2}, {1, 2}, {1, 3}, {2, 2}, {2, 1}, {2, 1}}),
              ElementsAre(0, 1, 4, 5));
}

TEST(ParetoFront, NothingOfNothing) { EXPECT_THAT(pareto_front({}), IsEmpty()); }

TEST(ParetoFront, IsWhatThePairwiseRuleGives) {
  std::mt19937 random(7);
  std::uniform_int_distribution<int> cost(0, 12);
  const auto beats = [](const Costs& a, const Costs& b) {
    return a.first <= b.first && a.second <= b.second && (a.first < b.first || a.second < b.second);
  };
  for (int trial = 0; trial < 50; ++trial) {
    std::vector<Costs> costs(30);
    for (Costs& each : costs) {
      each = {static_cast<double>(cost(random)), static_cast<double>(cost(random))};
    }
    const auto front = pareto_front(costs);
    for (std::size_t i = 0; i < costs.size(); ++i) {
      const bool beaten =
          std::ranges::any_of(costs, [&](const Costs& other) { return beats(other, costs[i]); });
      EXPECT_NE(std::ranges::find(front, i) != front.end(), beaten);
    }
  }
}

}  // namespace
}  // namespace fatune
