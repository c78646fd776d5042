#include "choose/cover.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <random>

namespace fatune {
namespace {

/// The sum of the rows' least costs, or kNotServed if a row is not served.
double cost_of(const std::vector<std::size_t>& chosen, const ServingCosts& costs) {
  double sum = 0.0;
  for (const auto& row : costs) {
    double least = kNotServed;
    for (const std::size_t candidate : chosen) {
      least = std::min(least, row.at(candidate));
    }
    sum += least;
  }
  return sum;
}

std::vector<std::size_t> members_of(unsigned set) {
  std::vector<std::size_t> members;
  for (std::size_t i = 0; i < 32; ++i) {
    if ((set >> i & 1U) != 0) {
      members.push_back(i);
    }
  }
  return members;
}

/// The size of the smallest set that serves all rows, and the least cost of a set of that size.
std::pair<int, double> best_of_all_sets(const ServingCosts& costs) {
  std::pair<int, double> best{33, kNotServed};
  for (unsigned set = 1; set < 1U << costs.front().size(); ++set) {
    const double cost = cost_of(members_of(set), costs);
    if (cost != kNotServed) {
      best = std::min(best, {std::popcount(set), cost});
    }
  }
  return best;
}

ServingCosts random_costs(std::mt19937& engine) {
  const auto below = [&](std::size_t end) {
    return std::uniform_int_distribution<std::size_t>(0, end - 1)(engine);
  };
  const std::size_t candidates = 2 + below(9);
  ServingCosts costs(1 + below(12), std::vector<double>(candidates, kNotServed));
  for (auto& row : costs) {
    row[below(candidates)] = 0.0;
    for (double& cost : row) {
      if (below(4) == 0) {
        cost = static_cast<double>(below(500)) / 100.0;
      }
    }
  }
  return costs;
}

TEST(SmallestCover, IsTheBestOfAllSets) {
  std::mt19937 engine(11);
  for (int i = 0; i < 300; ++i) {
    const ServingCosts costs = random_costs(engine);
    const auto [least, cost] = best_of_all_sets(costs);
    const auto cover = smallest_cover(costs);
    ASSERT_TRUE(cover);
    ASSERT_EQ(cover->size(), static_cast<std::size_t>(least)) << i;
    ASSERT_NEAR(cost_of(*cover, costs), cost, 1e-6) << i;
  }
}

TEST(GreedyCover, ServesEveryRowAndIsNoSmallerThanTheSmallest) {
  std::mt19937 engine(12);
  std::size_t larger = 0;
  for (int i = 0; i < 300; ++i) {
    const ServingCosts costs = random_costs(engine);
    const std::vector<std::size_t> greedy = greedy_cover(costs);
    ASSERT_NE(cost_of(greedy, costs), kNotServed);
    const std::size_t least = smallest_cover(costs)->size();
    ASSERT_GE(greedy.size(), least);
    larger += greedy.size() > least ? 1U : 0U;
  }
  EXPECT_GT(larger, 0U) << "else the random costs are too easy to tell the two apart";
}

TEST(GreedyCover, TakesTheCheaperOfTwoThatServeAsMany) {
  EXPECT_EQ(greedy_cover({{2.0, 1.0}, {2.0, 2.5}}), (std::vector<std::size_t>{1}));
}

TEST(SmallestCover, OfFortyCandidatesTakesLittleTime) {
  std::mt19937 engine(13);
  ServingCosts costs(24, std::vector<double>(40, kNotServed));
  for (auto& row : costs) {
    for (double& cost : row) {
      if (engine() % 4 == 0) {
        cost = static_cast<double>(engine() % 500) / 100.0;
      }
    }
    row[engine() % 40] = 0.0;
  }
  const auto cover = smallest_cover(costs, 60);
  ASSERT_TRUE(cover);
  EXPECT_NE(cost_of(*cover, costs), kNotServed);
}

}  // namespace
}  // namespace fatune
