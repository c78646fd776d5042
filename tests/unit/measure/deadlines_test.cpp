#include "measure/remote_worker.hpp"

#include <gtest/gtest.h>

namespace fatune {
namespace {

using std::chrono::milliseconds;

TEST(Deadlines, VerificationIsOneRunAndFourOfTheProbe) {
  Deadlines deadlines({milliseconds(1), milliseconds(1), milliseconds(1000), 50.0});
  deadlines.begin_problem({4, 1024, 8, 64, DType::fp16, false});
  deadlines.saw_sample(1000.0);
  EXPECT_EQ(deadlines.runs(1), milliseconds(1050));
  EXPECT_EQ(deadlines.verification(), milliseconds(1100)) << "1 of 4 batches, four times: 50 more";
  deadlines.begin_problem({1, 1024, 2, 64, DType::fp16, false});
  deadlines.saw_sample(1000.0);
  EXPECT_EQ(deadlines.verification(), deadlines.runs(5)) << "the probe is the problem";
}

TEST(Deadlines, AProblemWithoutKeysHasOnesToo) {
  Deadlines deadlines({milliseconds(1), milliseconds(1), milliseconds(1000), 50.0});
  Problem problem{2, 1, 1, 64, DType::fp16, false};
  problem.seq_lens_kv = "0,0";
  deadlines.begin_problem(problem);
  deadlines.saw_sample(1000.0);
  EXPECT_LT(deadlines.verification(), milliseconds(100'000));
}

TEST(Deadlines, TheBestSampleCounts) {
  Deadlines deadlines({milliseconds(1), milliseconds(1), milliseconds(1000), 50.0});
  deadlines.begin_problem({1, 128, 1, 64, DType::fp16, false});
  deadlines.saw_sample(400.0);
  deadlines.saw_sample(200.0);
  deadlines.saw_sample(300.0);
  EXPECT_EQ(deadlines.runs(2), milliseconds(1020));
}

TEST(Deadlines, CountingTakesManyPasses) {
  Deadlines deadlines(
      {milliseconds(1), milliseconds(1), milliseconds(1000), 50.0, milliseconds(20'000)});
  deadlines.begin_problem({1, 128, 1, 64, DType::fp16, false});
  deadlines.saw_sample(200.0);
  EXPECT_EQ(deadlines.counting(2), milliseconds(20'000 + 1000 + 2 * 50 * 10));
}

}  // namespace
}  // namespace fatune
