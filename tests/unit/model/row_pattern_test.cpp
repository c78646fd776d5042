#include "model/row_sample.hpp"

#include <functional>

#include <gmock/gmock.h>

namespace fatune {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// All rows of `heads` heads. The rows for which `wrong` is true have 3 elements beyond the limit.
RowMismatches rows_of(int heads, int seq_len, const std::function<bool(int head, int row)>& wrong) {
  RowMismatches rows{"normal", seq_len, {}, {}, {}};
  for (int head = 0; head < heads; ++head) {
    for (int row = 0; row < seq_len; ++row) {
      rows.row.push_back(row);
      rows.mismatched.push_back(wrong(head, row) ? 5 : 1);
      rows.beyond_limit.push_back(wrong(head, row) ? 3 : 0);
    }
  }
  return rows;
}

TEST(RowPattern, NothingWrongHasNoPattern) {
  const RowPattern pattern = find_row_pattern(rows_of(2, 128, [](int, int) { return false; }));
  EXPECT_EQ(pattern.rows, 256);
  EXPECT_EQ(pattern.rows_mismatched, 256);
  EXPECT_EQ(pattern.rows_beyond_limit, 0);
  EXPECT_THAT(pattern.ranges, IsEmpty());
  EXPECT_EQ(pattern.period, 0);
  EXPECT_EQ(describe(pattern), "0 of 256 rows beyond the limit (256 with a mismatched element)");
}

TEST(RowPattern, RowsOfEveryTileAreFoundByTheSmallestHeight) {
  const RowPattern pattern =
      find_row_pattern(rows_of(2, 256, [](int, int row) { return row % 64 >= 48; }));
  EXPECT_EQ(pattern.period, 64);
  EXPECT_THAT(pattern.period_ranges, ElementsAre(RowRange{48, 63}));
  EXPECT_EQ(describe(pattern),
            "128 of 512 rows beyond the limit (512 with a mismatched element), in 2 of 2 heads: "
            "rows 48-63, 112-127, 176-191, 240-255; of every 64 rows: 48-63");
}

TEST(RowPattern, EverythingWrongDoesNotRepeat) {
  const RowPattern pattern = find_row_pattern(rows_of(1, 256, [](int, int) { return true; }));
  EXPECT_EQ(pattern.period, 0);
  EXPECT_THAT(pattern.ranges, ElementsAre(RowRange{0, 255}));
}

TEST(RowPattern, AStrayRowDoesNotRepeat) {
  const RowPattern pattern =
      find_row_pattern(rows_of(3, 1024, [](int head, int row) { return head == 1 && row == 700; }));
  EXPECT_EQ(pattern.heads_beyond_limit, 1);
  EXPECT_EQ(pattern.heads, 3);
  EXPECT_EQ(pattern.period, 0) << "in one of twelve tiles";
  EXPECT_THAT(describe(pattern), HasSubstr("in 1 of 3 heads: rows 700"));
}

TEST(RowPattern, PositionsThatWereNotComparedBreakNoRange) {
  const RowMismatches rows{"normal", 4, {0, 10, 20, 30}, {1, 2, 2, 0}, {0, 2, 2, 0}};
  EXPECT_THAT(find_row_pattern(rows).ranges, ElementsAre(RowRange{10, 20}));
}

TEST(RowPattern, PositionsCountOverAllHeads) {
  const RowMismatches rows{"normal", 2, {0, 7, 0, 7}, {1, 0, 4, 0}, {0, 0, 4, 0}};
  const std::vector<PositionCounts> positions = count_by_position(rows);
  ASSERT_EQ(positions.size(), 2U);
  EXPECT_EQ(positions[0].rows_compared, 2);
  EXPECT_EQ(positions[0].rows_mismatched, 2);
  EXPECT_EQ(positions[0].rows_beyond_limit, 1);
  EXPECT_EQ(positions[0].mismatched, 5);
  EXPECT_EQ(positions[0].beyond_limit, 4);
  EXPECT_EQ(positions[1].row, 7);
  EXPECT_EQ(positions[1].mismatched, 0);
}

TEST(RowPattern, TheWorstRowsComeFirstAndRightOnesNever) {
  const RowMismatches rows{"normal", 2, {0, 7, 0, 7}, {1, 0, 4, 9}, {0, 0, 4, 4}};
  const std::vector<RowFinding> worst = worst_rows(rows, 10);
  ASSERT_EQ(worst.size(), 3U);
  EXPECT_EQ(worst[0].head, 1);
  EXPECT_EQ(worst[0].row, 7);
  EXPECT_EQ(worst[2].mismatched, 1);
  EXPECT_EQ(worst_rows(rows, 1).size(), 1U);
}

TEST(RowPattern, ManyRangesAreCutShort) {
  EXPECT_EQ(describe({{1, 1}, {3, 9}, {11, 11}}, 2), "1, 3-9, ...");
}

// A worker may send anything.
TEST(RowPattern, WhatMakesNoSenseIsLeftOut) {
  EXPECT_EQ(find_row_pattern({"normal", 0, {1}, {1}, {1}}).rows, 0);
  EXPECT_EQ(find_row_pattern({"normal", 2, {1, -5, 3}, {1, 1, 1}, {1, 1}}).rows, 1);
}

}  // namespace
}  // namespace fatune
