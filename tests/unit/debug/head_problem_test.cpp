#include "debug/head_problem.hpp"

#include <gtest/gtest.h>

#include "debug/step_values.hpp"

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

TEST(StepWindow, IsWithinItsTensor) {
  const HeadProblem head = causal_head(StepOrder::last_to_first);
  const StepValues values = empty_values(head);
  for (const StepTensor tensor : kStepTensors) {
    const StepWindow window = step_window(head, tensor, 3, 0);
    EXPECT_EQ(window.rows, 4) << "rows that exist";
    EXPECT_EQ(window.first_row, 96);
    EXPECT_LT(window.index(window.rows - 1, window.columns - 1), values.of(tensor).size());
  }
  EXPECT_EQ(step_window(head, StepTensor::s, 3, 0).first_column, 96);
  const StepWindow output = step_window(head, StepTensor::output, 3, 0);
  EXPECT_EQ(output.index(output.rows - 1, output.columns - 1) + 1, values.output.size());
}

}  // namespace
}  // namespace fatune
