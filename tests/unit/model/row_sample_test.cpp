#include "model/row_sample.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "unit/measure/print_problem.hpp"

namespace fatune {
namespace {

Problem problem(std::int64_t batch, std::int64_t seq_len, std::int64_t heads) {
  return {batch, seq_len, heads, 128, DType::fp16, false};
}

TEST(RowSample, SmallProblemsTakeEveryRow) {
  const RowSample sample = sample_rows(problem(4, 1024, 16), 1);
  EXPECT_TRUE(sample.all_rows);
  EXPECT_EQ(sample.rows_per_head, 1024);
  ASSERT_EQ(sample.rows.size(), 64u * 1024u);
  EXPECT_EQ(sample.rows[0], 0);
  EXPECT_EQ(sample.rows[1023], 1023);
  EXPECT_EQ(sample.rows[1024], 0) << "the next head starts over";
  EXPECT_EQ(describe_rows(problem(4, 1024, 16)), "all rows");
}

TEST(RowSample, ALargeProblemSaysHowManyOfHowMany) {
  EXPECT_EQ(describe_rows(problem(16, 4096, 16)), "8192 of 1048576 rows");
}

class LargeProblem : public ::testing::TestWithParam<Problem> {
 protected:
  [[nodiscard]] static std::int64_t heads() { return GetParam().batch * GetParam().heads; }
};

TEST_P(LargeProblem, HasRoundlyTheIntendedNumberOfRows) {
  const RowSample sample = sample_rows(GetParam(), 7);
  EXPECT_FALSE(sample.all_rows);
  EXPECT_EQ(static_cast<std::int64_t>(sample.rows.size()), heads() * sample.rows_per_head);
  EXPECT_EQ(sample.rows_per_head, sampled_rows_per_head(GetParam()));
  EXPECT_LE(static_cast<std::int64_t>(sample.rows.size()), kSampledRows + 3 * heads());
}

TEST_P(LargeProblem, RowsExistAndAscendInEachHead) {
  const RowSample sample = sample_rows(GetParam(), 7);
  for (auto head = sample.rows.begin(); head != sample.rows.end(); head += sample.rows_per_head) {
    EXPECT_TRUE(std::is_sorted(head, head + sample.rows_per_head));
    EXPECT_EQ(*head, 0);
    EXPECT_EQ(*(head + sample.rows_per_head - 1), GetParam().seq_len - 1);
  }
}

TEST_P(LargeProblem, EveryPositionInATileIsHit) {
  const std::int64_t positions = std::min(kTilePositions, GetParam().seq_len);
  std::set<std::int64_t> hit;
  for (const std::int32_t row : sample_rows(GetParam(), 7).rows) {
    hit.insert(row % positions);
  }
  EXPECT_EQ(static_cast<std::int64_t>(hit.size()), positions);
}

TEST_P(LargeProblem, RowsAreSpreadOverTheSequence) {
  std::set<std::int64_t> eighths;
  for (const std::int32_t row : sample_rows(GetParam(), 7).rows) {
    eighths.insert(row * 8 / GetParam().seq_len);
  }
  EXPECT_EQ(eighths.size(), std::min<std::size_t>(8, static_cast<std::size_t>(GetParam().seq_len)));
}

TEST_P(LargeProblem, TheSeedDecides) {
  EXPECT_EQ(sample_rows(GetParam(), 7).rows, sample_rows(GetParam(), 7).rows);
  if (sampled_rows_per_head(GetParam()) > 3) {  // with fewer, two seeds may give the same rows
    EXPECT_NE(sample_rows(GetParam(), 7).rows, sample_rows(GetParam(), 8).rows);
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, LargeProblem,
                         ::testing::Values(problem(16, 512, 16), problem(4, 16384, 16),
                                           problem(16, 4097, 16), problem(1, 1000000, 1),
                                           problem(2048, 63, 16), problem(4096, 5, 32),
                                           problem(16, 333, 16)));

TEST(RowSample, FewRowsOfALongSequenceAreSampledToo) {
  EXPECT_EQ(sampled_rows_per_head(problem(1, 4096, 4)), 4096);
  EXPECT_EQ(sampled_rows_per_head(problem(1, 16384, 2)), 4096) << "2^29 scores are too many";
}

TEST(RowSample, MoreHeadsThanSampledRowsStillHitEveryHead) {
  const RowSample sample = sample_rows(problem(4096, 5, 32), 1);
  EXPECT_EQ(sample.rows_per_head, 3);
}

}  // namespace
}  // namespace fatune
