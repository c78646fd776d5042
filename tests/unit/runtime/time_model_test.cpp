#include "runtime/time_model.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
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

TileShare share(const TileSchedule& schedule) {
  return busiest_share(schedule, kTileClocks, kStepClocks);
}

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
  const TileSchedule schedule =
      schedule_of(TileOrder::in_turn, 2, 1, 1, {5.0, 2.0, 0.0, 2.0, 0.0, 0.0});
  EXPECT_DOUBLE_EQ(busiest_share(schedule, 0.0, 1.0).steps, 5.0);
  EXPECT_DOUBLE_EQ(busiest_share(schedule, 100.0, 1.0).tiles, 3.0);
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

TEST(ModelTime, HasThePartsThatMeasuredTimesCorrect) {
  TimeModel model;
  model.launch_clocks = 50.0;
  model.tile_clocks = kTileClocks;
  model.step_clocks = kStepClocks;
  model.schedule = causal(TileOrder::in_turn, 4, 2, 1);  // the first SM has 8 steps, the mean is 5
  const ModelTime time = model_time(model);
  EXPECT_DOUBLE_EQ(time.clocks, 50.0 + 2.0 + 80.0);
  EXPECT_DOUBLE_EQ(time.parts[0], 1.0);
  EXPECT_DOUBLE_EQ(time.parts[1], 2.0 / 132.0);
  EXPECT_DOUBLE_EQ(time.parts[2], 50.0 / 132.0);
  EXPECT_DOUBLE_EQ(time.parts[3], 30.0 / 132.0);
}

TEST(ModelTime, IsThatOfTheMemoryWhereItIsSlower) {
  TimeModel model;
  model.launch_clocks = 50.0;
  model.tile_clocks = kTileClocks;
  model.step_clocks = kStepClocks;
  model.schedule = causal(TileOrder::in_turn, 4, 2, 1);  // 82 clocks of work, 52 in the mean
  model.memory_clocks = 164.0;
  const ModelTime time = model_time(model);
  const double body = 82.0 * std::cbrt(9.0);
  EXPECT_NEAR(time.clocks, 50.0 + body, 1e-9);
  // By how much the clocks of the tiles change the time.
  const double part = std::pow(82.0 / body, 2) / time.clocks;
  EXPECT_NEAR(time.parts[1], 2.0 * part, 1e-12);
  EXPECT_NEAR(time.parts[2], 50.0 / time.clocks, 1e-12);
  EXPECT_NEAR(time.parts[3], 30.0 * part, 1e-12);
  EXPECT_NEAR(total_clocks(model, {2.0, 8.0}), time.clocks, 1e-9);
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
