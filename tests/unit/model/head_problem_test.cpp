#include "model/head_problem.hpp"

#include <gtest/gtest.h>

namespace fatune {
namespace {

HeadProblem causal_head(StepOrder order) {
  return {100, 64, DType::fp16, true, {32, 16, order, 0.0}};
}

TEST(HeadProblem, PadsToWholeTiles) {
  const HeadProblem head = causal_head(StepOrder::first_to_last);
  EXPECT_EQ(head.q_blocks(), 4);
  EXPECT_EQ(head.rows(), 128);
  EXPECT_EQ(head.kv_tiles(), 7);
  EXPECT_EQ(head.keys(), 112);
}

TEST(HeadProblem, ACausalBlockVisitsOnlyTilesThatItSees) {
  const HeadProblem head = causal_head(StepOrder::first_to_last);
  EXPECT_EQ(head.steps(0), 2) << "queries 0 to 31, keys 0 to 31";
  EXPECT_EQ(head.steps(3), 7) << "queries 96 to 99";
  EXPECT_EQ(head.tile_of(0, 1), 1);
  const HeadProblem backwards = causal_head(StepOrder::last_to_first);
  EXPECT_EQ(backwards.tile_of(0, 0), 1);
  EXPECT_EQ(backwards.tile_of(3, 0), 6);
  EXPECT_EQ(backwards.tile_of(3, 6), 0);
}

TEST(HeadProblem, MasksWhatComesLaterAndWhatIsNotThere) {
  const HeadProblem head = causal_head(StepOrder::first_to_last);
  EXPECT_FALSE(head.is_masked(5, 5));
  EXPECT_TRUE(head.is_masked(5, 6));
  EXPECT_TRUE(head.is_masked(110, 100));
}

// Queries 0 to 39 stand at positions 60 to 99.
HeadProblem causal_decoding() {
  return {40, 64, DType::fp16, true, {32, 16, StepOrder::first_to_last, 0.0, 3}, 100};
}

TEST(HeadProblem, TheLastQueryStandsAtTheLastKey) {
  const HeadProblem head = causal_decoding();
  EXPECT_EQ(head.rows(), 64);
  EXPECT_EQ(head.keys(), 112);
  EXPECT_EQ(head.steps(0), 6) << "queries 0 to 31, positions 60 to 91";
  EXPECT_EQ(head.steps(1), 7);
  EXPECT_FALSE(head.is_masked(5, 65));
  EXPECT_TRUE(head.is_masked(5, 66));
  EXPECT_TRUE(head.is_masked(39, 100));
  EXPECT_EQ(head.problem().seq_len_kv, 100);
}

TEST(HeadProblem, PartsBeginAfterSoManyTiles) {
  std::vector<std::int64_t> begins;
  const HeadProblem head = causal_decoding();
  for (std::int64_t step = 0; step < head.steps(1); ++step) {
    if (head.begins_part(1, step)) {
      begins.push_back(step);
    }
  }
  EXPECT_EQ(begins, (std::vector<std::int64_t>{0, 3, 6}));
  EXPECT_FALSE(causal_head(StepOrder::first_to_last).begins_part(3, 6)) << "all are one part";
}

}  // namespace
}  // namespace fatune
