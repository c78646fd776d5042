#include "attention/probe_problem.hpp"

#include <gtest/gtest.h>

namespace fatune {
namespace {

TEST(ProbeProblem, KeepsAllButTheBatch) {
  const Problem probe = probe_problem({16, 4096, 12, 128, DType::bf16, true});
  EXPECT_EQ(probe, (Problem{1, 4096, 12, 128, DType::bf16, true}));
}

TEST(ProbeProblem, IsNeverLargerThanTheProblem) {
  const Problem smallest{1, 7, 1, 64, DType::fp16, false};
  EXPECT_EQ(probe_problem(smallest), smallest);
}

}  // namespace
}  // namespace fatune
