#include "app/problem_plan.hpp"

#include <gmock/gmock.h>

#include "core/error.hpp"
#include "unit/app/toy_kernels.hpp"

namespace fatune {
namespace {

class PlanProblems : public testing::Test {
 protected:
  [[nodiscard]] std::vector<ProblemPlan> plan(const ProblemOptions& options) const {
    return plan_problems(kernels_.family, plan_, options);
  }

  const KernelChoice kernels_ = toy_kernels();
  const Plan plan_{{toy_config(kernels_, "(FP16, 64, 32): unroll_1"),
                    toy_config(kernels_, "(FP16, 64, 64): unroll_1"),
                    toy_config(kernels_, "(BF16, 128, 32): unroll_1")},
                   {{toy_config(kernels_, "(FP16, 64, 32): unroll_2"), Pruned{"r", "why"}},
                    {toy_config(kernels_, "(BF16, 64, 32): unroll_2"), Invalid{"r", "why"}}}};
};

TEST_F(PlanProblems, OnePerLengthForEachDTypeAndHeadDimensionThatIsKept) {
  ProblemOptions options;
  options.seq_lens = {512, 8192};
  const auto problems = plan(options);
  ASSERT_EQ(problems.size(), 4U);
  EXPECT_EQ(problems[0].problem, (Problem{16, 512, 16, 64, DType::fp16, false}));
  EXPECT_EQ(problems[0].configs.size(), 2U);
  EXPECT_EQ(problems[0].pruned, 1);
  EXPECT_EQ(problems[0].invalid, 0);
  EXPECT_EQ(problems[1].problem.batch, 8);
  EXPECT_EQ(problems[2].problem, (Problem{16, 512, 16, 128, DType::bf16, false}));
  EXPECT_EQ(problems[2].configs.size(), 1U);
}

TEST_F(PlanProblems, TheDocumentedLengthsWhenNoneIsGiven) {
  std::vector<std::int64_t> seq_lens;
  for (const ProblemPlan& problem : plan({})) {
    seq_lens.push_back(problem.problem.seq_len);
  }
  EXPECT_THAT(seq_lens, testing::ElementsAre(512, 1024, 2048, 4096, 512, 1024, 2048, 4096));
}

TEST_F(PlanProblems, BatchHeadsAndCausalAreTheOptions) {
  ProblemOptions options;
  options.seq_lens = {100};
  options.batch = 3;
  options.heads = 5;
  options.causal = true;
  EXPECT_EQ(plan(options)[0].problem, (Problem{3, 100, 5, 64, DType::fp16, true}));
}

TEST_F(PlanProblems, ExtentsOutOfRangeAreErrors) {
  ProblemOptions options;
  options.seq_lens = {100};
  options.heads = 70000;
  EXPECT_THROW((void)plan(options), Error);
}

}  // namespace
}  // namespace fatune
