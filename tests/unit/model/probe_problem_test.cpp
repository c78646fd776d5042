#include "model/problem.hpp"

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

TEST(NarrowProblem, MasksWhereTheSmallOneOfAWindowedProblemDoesNot) {
  Problem problem{16, 8192, 12, 128, DType::bf16, true};
  EXPECT_EQ(narrow_problem(problem), std::nullopt) << "no window";
  problem.window = 4096;
  Problem narrow = small_problem(problem);
  narrow.window = 86;
  EXPECT_EQ(narrow_problem(problem), narrow);
  problem.window = 255;
  EXPECT_EQ(narrow_problem(problem), std::nullopt) << "it masks keys of the small problem";
  problem.window = 8192;
  EXPECT_EQ(narrow_problem(problem), std::nullopt) << "it masks nothing";
}

TEST(NarrowProblem, IsSmallItself) {
  for (std::int64_t seq_len = 400; seq_len < 1200; seq_len += 7) {
    Problem problem{1, seq_len, 2, 64, DType::fp16, false};
    problem.window = seq_len - 1;
    const Problem narrow = narrow_problem(problem).value();
    EXPECT_EQ(small_problem(narrow), narrow);
  }
}

}  // namespace
}  // namespace fatune
