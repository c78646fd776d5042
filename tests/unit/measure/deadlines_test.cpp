#include "measure/remote_worker.hpp"

#include <gtest/gtest.h>

namespace fatune {
namespace {

using std::chrono::milliseconds;

constexpr int kSmCount = 132;

TEST(Deadlines, VerificationIsOneRunAndFourOfTheProbe) {
  Deadlines deadlines({milliseconds(1), milliseconds(1), milliseconds(1000), 50.0});
  deadlines.begin_problem({4, 1024, 8, 64, DType::fp16, false}, kSmCount);
  deadlines.saw_sample(1000.0);
  EXPECT_EQ(deadlines.runs(1), milliseconds(1050));
  EXPECT_EQ(deadlines.verification() - deadlines.references(), milliseconds(1100))
      << "1 of 4 batches, four times: 50 more";
  deadlines.begin_problem({1, 1024, 2, 64, DType::fp16, false}, kSmCount);
  deadlines.saw_sample(1000.0);
  EXPECT_EQ(deadlines.verification() - deadlines.references(), deadlines.runs(5))
      << "the probe is the problem";
}

TEST(Deadlines, AProblemWithoutKeysHasOnesToo) {
  Deadlines deadlines({milliseconds(1), milliseconds(1), milliseconds(1000), 50.0});
  Problem problem{2, 1, 1, 64, DType::fp16, false};
  problem.seq_lens_kv = "0,0";
  deadlines.begin_problem(problem, kSmCount);
  deadlines.saw_sample(1000.0);
  EXPECT_LT(deadlines.verification(), milliseconds(100'000));
}

TEST(Deadlines, TheBestSampleCounts) {
  Deadlines deadlines({milliseconds(1), milliseconds(1), milliseconds(1000), 50.0});
  deadlines.begin_problem({1, 128, 1, 64, DType::fp16, false}, kSmCount);
  deadlines.saw_sample(400.0);
  deadlines.saw_sample(200.0);
  deadlines.saw_sample(300.0);
  EXPECT_EQ(deadlines.runs(2), milliseconds(1020));
}

TEST(Deadlines, CountingTakesManyPasses) {
  Deadlines deadlines(
      {milliseconds(1), milliseconds(1), milliseconds(1000), 50.0, milliseconds(20'000)});
  deadlines.begin_problem({1, 128, 1, 64, DType::fp16, false}, kSmCount);
  deadlines.saw_sample(200.0);
  EXPECT_EQ(deadlines.counting(2), milliseconds(20'000 + 1000 + 2 * 50 * 10));
}

// The decoding of one token of 8 heads that share K and V.
Problem decoding(std::int64_t queries, std::int64_t keys) {
  Problem problem{1, queries, 8, 128, DType::bf16, false};
  problem.kv_heads = 1;
  problem.seq_len_kv = keys;
  return problem;
}

Deadlines deadlines_of(const Problem& problem) {
  Deadlines deadlines{DeadlineSettings{}};
  deadlines.begin_problem(problem, kSmCount);
  return deadlines;
}

// An H100 took 3.2 s for each million keys, however few the queries, when the grids of kernels that
// make inputs had one block too.
TEST(Deadlines, FewQueriesOfManyKeysHaveTimeForReferences) {
  constexpr std::int64_t kMillion = 1'000'000;
  for (const std::int64_t millions : {1, 4, 16}) {
    for (const std::int64_t queries : {1, 4, 24}) {
      Deadlines deadlines = deadlines_of(decoding(queries, millions * kMillion));
      const milliseconds measured(3200 * millions);
      EXPECT_GT(deadlines.verification(), 3 * measured) << millions << ", " << queries;
      EXPECT_GT(deadlines.problem(), 3 * measured) << millions << ", " << queries;
      deadlines.saw_sample(500.0);
      EXPECT_GT(deadlines.verification(), 3 * measured) << "a sample is not slower";
      EXPECT_GT(deadlines.sample(), 3 * measured) << "the first one may have to make references";
    }
  }
}

TEST(Deadlines, ReferencesOfUsualProblemsChangeLittle) {
  const milliseconds usual = deadlines_of({4, 16384, 32, 128, DType::bf16, true}).references();
  EXPECT_GT(usual, milliseconds(0));
  EXPECT_LT(usual, milliseconds(1000));
  EXPECT_LT(deadlines_of(decoding(1, 8192)).references(), milliseconds(200));
}

TEST(Deadlines, ReferencesTakeLongerWithFewerSmsAndUnderATool) {
  const Problem problem{1, 4096, 32, 128, DType::fp16, false};
  const milliseconds on_many = deadlines_of(problem).references();
  Deadlines few{DeadlineSettings{}};
  few.begin_problem(problem, 33);
  EXPECT_GE(few.references(), 3 * on_many);
  few.begin_problem(problem, 0);
  EXPECT_LT(few.references(), 200 * on_many) << "an unknown number counts as one SM";
  Deadlines slow(under_tool({}));
  slow.begin_problem(problem, kSmCount);
  EXPECT_GE(slow.references(), 19 * on_many);
}

}  // namespace
}  // namespace fatune
