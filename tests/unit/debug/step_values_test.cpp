#include "debug/step_values.hpp"

#include <gmock/gmock.h>

namespace fatune {
namespace {

TEST(StepWindow, IsWithinItsTensor) {
  const HeadProblem head{100, 64, DType::fp16, true, {32, 16, StepOrder::last_to_first, 0.0}};
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
