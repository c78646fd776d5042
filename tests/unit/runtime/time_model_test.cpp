#include "runtime/time_model.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

namespace fatune_attention::detail {
namespace {

constexpr double kTileClocks = 1.0;
constexpr double kStepClocks = 10.0;

TileSchedule schedule_of(TileOrder order, std::int64_t sms, std::int64_t heads,
                         std::int64_t section_heads, const std::vector<double>& row_steps) {
  TileSchedule schedule;
  schedule.order = order;
  schedule.sms = sms;
  schedule.heads = heads;
  schedule.section_heads = section_heads;
  schedule.list_rows(static_cast<std::int64_t>(row_steps.size()));
  std::copy(row_steps.begin(), row_steps.end(), schedule.row_steps.begin());
  return schedule;
}

/// Tiles of 4, 3, 2 and 1 steps of each head, as under a causal mask.
TileSchedule causal(TileOrder order, std::int64_t sms, std::int64_t heads,
                    std::int64_t section_heads) {
  return schedule_of(order, sms, heads, section_heads, {4.0, 3.0, 2.0, 1.0});
}

TileShares shares(const TileSchedule& schedule) {
  return tile_shares(schedule, kTileClocks, kStepClocks);
}

/// That of the SM that finishes last.
TileShare share(const TileSchedule& schedule) { return shares(schedule).last(); }

TEST(TileShare, EvenlySharedTilesMayBeFractions) {
  const TileShare even = share(causal(TileOrder::even, 3, 1, 1));
  EXPECT_DOUBLE_EQ(even.tiles, 4.0 / 3.0);
  EXPECT_DOUBLE_EQ(even.steps, 10.0 / 3.0);
}

TEST(TileShare, EqualTilesFillWholeWaves) {
  for (const TileOrder order : {TileOrder::in_turn, TileOrder::when_free, TileOrder::one_ahead}) {
    const TileShare equal = share(schedule_of(order, 4, 9, 1, {5.0}));
    EXPECT_DOUBLE_EQ(equal.tiles, 3.0) << static_cast<int>(order);
    EXPECT_DOUBLE_EQ(equal.steps, 15.0) << static_cast<int>(order);
  }
}

TEST(TileShare, InTurnTheFirstSmHasTheLongestTiles) {
  // 4 4 3 3 2 2 1 1
  EXPECT_DOUBLE_EQ(share(causal(TileOrder::in_turn, 4, 2, 2)).steps, 4.0 + 2.0);
  // 4 3 2 1, 4 3 2 1
  EXPECT_DOUBLE_EQ(share(causal(TileOrder::in_turn, 4, 2, 1)).steps, 4.0 + 4.0);
}

TEST(TileShare, AFreeSmTakesTheNextTile) {
  EXPECT_DOUBLE_EQ(share(causal(TileOrder::when_free, 4, 2, 2)).steps, 5.0);
  EXPECT_DOUBLE_EQ(share(causal(TileOrder::when_free, 2, 1, 1)).steps, 5.0);
}

TEST(TileShare, ATileThatIsTakenAheadWaitsForAnother) {
  // The SM with the tile of 9 steps has taken one of 4, for which the other would be free sooner.
  const std::vector<double> rows{9.0, 1.0, 4.0, 4.0};
  const TileSchedule ahead = schedule_of(TileOrder::one_ahead, 2, 1, 1, rows);
  TileSchedule free = ahead;
  free.order = TileOrder::when_free;
  EXPECT_DOUBLE_EQ(share(free).steps, 9.0);
  EXPECT_DOUBLE_EQ(share(ahead).steps, 13.0);
}

TEST(TileShare, TheTimeOfATileDecidesWhichSmIsBusiest) {
  const TileSchedule schedule = schedule_of(TileOrder::in_turn, 2, 1, 1, {1.0, 5.0, 1.0, 0.5, 1.0});
  EXPECT_DOUBLE_EQ(tile_shares(schedule, 0.0, 1.0).last().steps, 5.5);
  EXPECT_DOUBLE_EQ(tile_shares(schedule, 100.0, 1.0).last().tiles, 3.0);
}

TEST(TileShare, MoreSmsThanTilesHaveOneEach) {
  EXPECT_DOUBLE_EQ(share(causal(TileOrder::when_free, 132, 2, 1)).steps, 4.0);
  EXPECT_DOUBLE_EQ(share(causal(TileOrder::in_turn, 132, 2, 1)).tiles, 1.0);
}

TEST(TileShare, OfManyTilesTheFirstAreSharedEvenly) {
  std::vector<double> rows(1000);
  std::iota(rows.rbegin(), rows.rend(), 1.0);
  const TileSchedule schedule = schedule_of(TileOrder::when_free, 10, 10, 10, rows);
  EXPECT_NEAR(share(schedule).steps, 500500.0, 50.0);
  EXPECT_NEAR(share(schedule).tiles, 1000.0, 1.0);
}

TEST(TileShare, RowsThatStandForOthersCountAsOften) {
  TileSchedule long_heads = schedule_of(TileOrder::in_turn, 10, 3, 1, {4.0, 2.0});
  long_heads.rows_each = 50.0;
  const TileShare many = share(long_heads);
  EXPECT_DOUBLE_EQ(many.tiles, 30.0);
  EXPECT_DOUBLE_EQ(many.steps, 90.0);
}

/// How many SMs compute each number of steps.
std::vector<std::pair<double, std::int64_t>> groups_of(const TileShares& shares) {
  std::vector<std::pair<double, std::int64_t>> groups;
  for (int i = 0; i < shares.count; ++i) {
    const auto& [share, sms] = shares.groups[static_cast<std::size_t>(i)];
    if (groups.empty() || groups.back().first != share.steps) {
      groups.emplace_back(share.steps, 0);
    }
    groups.back().second += sms;
  }
  return groups;
}

using testing::ElementsAre;
using testing::Pair;

TEST(TileShares, BeginWithTheSmsThatFinishFirst) {
  EXPECT_THAT(groups_of(shares(schedule_of(TileOrder::when_free, 4, 9, 1, {5.0}))),
              ElementsAre(Pair(10.0, 3), Pair(15.0, 1)));
  EXPECT_THAT(groups_of(shares(schedule_of(TileOrder::when_free, 4, 8, 1, {5.0}))),
              ElementsAre(Pair(10.0, 4)));
  EXPECT_THAT(groups_of(shares(schedule_of(TileOrder::when_free, 4, 3, 1, {5.0}))),
              ElementsAre(Pair(0.0, 1), Pair(5.0, 3)));
  EXPECT_THAT(groups_of(shares(causal(TileOrder::in_turn, 4, 2, 1))),
              ElementsAre(Pair(2.0, 1), Pair(4.0, 1), Pair(6.0, 1), Pair(8.0, 1)));
}

TEST(TileShares, OfSequencesWithAShortLastPart) {
  // 2 sequences of 2 heads, each with parts of 8, 8 and 4 steps, on 10 SMs: 4 parts of 8, 2 of 4,
  // 4 of 8, and the SMs with the first two of 4 take the last two.
  const TileSchedule parts = schedule_of(TileOrder::when_free, 10, 4, 2, {8.0, 8.0, 4.0});
  EXPECT_THAT(groups_of(shares(parts)), ElementsAre(Pair(8.0, 10)));
  // On 9, the last part of 8 begins when a part of 4 ends, and the last of 4 when one of 8 does.
  TileSchedule fewer = parts;
  fewer.sms = 9;
  EXPECT_THAT(groups_of(shares(fewer)), ElementsAre(Pair(8.0, 7), Pair(12.0, 2)));
}

TEST(TileShares, HaveNoTilesOfRowsWithoutSteps) {
  // A sequence of 3 parts, and one that ends in its second.
  const TileSchedule parts =
      schedule_of(TileOrder::when_free, 3, 1, 1, {8.0, 8.0, 8.0, 8.0, 2.0, 0.0});
  const TileShares shared = shares(parts);
  EXPECT_THAT(groups_of(shared), ElementsAre(Pair(8.0, 1), Pair(10.0, 1), Pair(16.0, 1)));
  double tiles = 0.0;
  for (int i = 0; i < shared.count; ++i) {
    tiles += shared.groups[static_cast<std::size_t>(i)].share.tiles;
  }
  EXPECT_DOUBLE_EQ(tiles, 5.0);
  TileSchedule even = parts;
  even.order = TileOrder::even;
  EXPECT_DOUBLE_EQ(share(even).tiles, 5.0 / 3.0);
}

/// Gives each tile to an SM of its own account, one by one.
std::vector<double> finished_one_by_one(const TileSchedule& schedule) {
  std::vector<double> steps(static_cast<std::size_t>(schedule.sms));
  const auto clocks = [&](std::size_t sm) { return steps[sm]; };
  for (std::int64_t first = 0; first < schedule.heads; first += schedule.section_heads) {
    for (int row = 0; row < schedule.rows; ++row) {
      for (std::int64_t head = 0; head < std::min(schedule.section_heads, schedule.heads - first);
           ++head) {
        std::size_t next = 0;
        for (std::size_t sm = 1; sm < steps.size(); ++sm) {
          next = clocks(sm) < clocks(next) ? sm : next;
        }
        steps[next] += schedule.row_steps[static_cast<std::size_t>(row)];
      }
    }
  }
  std::ranges::sort(steps);
  return steps;
}

TEST(TileShares, AreThoseOfTilesThatAreTakenOneByOne) {
  std::mt19937 engine(3);
  const auto below = [&](int end) { return std::uniform_int_distribution(0, end - 1)(engine); };
  for (int i = 0; i < 200; ++i) {
    std::vector<double> rows(static_cast<std::size_t>(1 + below(6)));
    std::ranges::generate(rows, [&] { return 1.0 + below(4); });
    const TileSchedule schedule =
        schedule_of(TileOrder::when_free, 1 + below(40), 1 + below(30), 1 + below(8), rows);
    std::vector<double> steps;
    for (const auto& [of_group, sms] : groups_of(tile_shares(schedule, 0.0, 1.0))) {
      steps.insert(steps.end(), static_cast<std::size_t>(sms), of_group);
    }
    ASSERT_EQ(steps, finished_one_by_one(schedule)) << i;
  }
}

/// The first of 4 SMs has 8 steps, the others 6, 4 and 2.
TimeModel model_in_turn() {
  TimeModel model;
  model.launch_clocks = 50.0;
  model.tile_clocks = kTileClocks;
  model.step_clocks = kStepClocks;
  model.schedule = causal(TileOrder::in_turn, 4, 2, 1);
  return model;
}

TEST(ModelTime, HasThePartsThatMeasuredTimesCorrect) {
  const ModelTime time = model_time(model_in_turn());
  EXPECT_DOUBLE_EQ(time.clocks, 50.0 + 2.0 + 80.0);
  EXPECT_DOUBLE_EQ(time.parts[0], 1.0);
  EXPECT_DOUBLE_EQ(time.parts[1], 2.0 / 132.0);
  EXPECT_DOUBLE_EQ(time.parts[2], 50.0 / 132.0);
  EXPECT_DOUBLE_EQ(time.parts[3], 30.0 / 132.0);
}

double sixth_powers(double a, double b) {
  return std::pow(std::pow(a, 6) + std::pow(b, 6), 1.0 / 6.0);
}

TEST(ModelTime, IsThatOfTheMemoryWhereItIsSlower) {
  TimeModel model = model_in_turn();
  model.memory_clocks = 520.0;  // ten times what SMs compute in the mean
  // The SMs finish after 22, 42, 62 and 82 clocks of work, 52 in the mean. Memory gives 4, 3, 2 and
  // 1 of them what they read.
  const double first = sixth_powers(22.0, 220.0);
  const double second = sixth_powers(20.0, 150.0);
  const double third = sixth_powers(20.0, 100.0);
  const double fourth = sixth_powers(20.0, 50.0);
  const double body = first + second + third + fourth;
  const ModelTime time = model_time(model);
  EXPECT_NEAR(time.clocks, 50.0 + body, 1e-9);
  // All have two tiles, so that only the clocks until the first SM finishes depend on them.
  EXPECT_NEAR(time.parts[1], 2.0 * std::pow(22.0 / first, 5) / time.clocks, 1e-12);
  EXPECT_NEAR(time.parts[2], 50.0 / time.clocks, 1e-12);
  EXPECT_NEAR(time.parts[3], (body - sixth_powers(52.0, 520.0)) / time.clocks, 1e-12);
}

TEST(ModelTime, OfMemoryAloneIsItsClocks) {
  TimeModel model = model_in_turn();
  model.tile_clocks = model.step_clocks = 0.0;
  model.memory_clocks = 70.0;
  EXPECT_DOUBLE_EQ(model_time(model).clocks, 120.0);
}

TEST(ModelTime, AFewSmsThatComputeLongerKeepMemoryIdle) {
  // 3 SMs compute 10 steps, 1 computes 20. Memory alone would take as long as 25 do.
  TimeModel model;
  model.step_clocks = 1.0;
  model.schedule = schedule_of(TileOrder::in_turn, 4, 5, 1, {10.0});
  model.memory_clocks = 25.0;
  const double clocks = model_time(model).clocks;
  EXPECT_GT(clocks, 25.0 + 4.0) << "in the last ten steps, memory serves one SM";
  model.schedule = schedule_of(TileOrder::even, 4, 5, 1, {10.0});
  EXPECT_LT(model_time(model).clocks, 25.2);
}

TEST(ModelTime, IsCorrectedByAFit) {
  const ModelTime time{1000.0, {1.0, 0.25, 0.5, 0.0}};
  EXPECT_NEAR(predicted_us({std::log(2e-3), 1.0, {}}, time), 2.0, 1e-12);
  EXPECT_NEAR(predicted_us({std::log(2e-3), 1.0, {0.1, 0.4, 0.2, 9.0}}, time), 2.0 * std::exp(0.3),
              1e-12);
}

TEST(CountOf, IsAtLeastOne) {
  EXPECT_EQ(count_of(7.0), 7);
  for (const double value : {0.0, -3.0, 2.5, 1e300, std::nan("")}) {
    EXPECT_EQ(count_of(value), 1) << value;
  }
}

}  // namespace
}  // namespace fatune_attention::detail
