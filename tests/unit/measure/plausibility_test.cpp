#include "measure/plausibility.hpp"

#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fatune {
namespace {

using ::testing::HasSubstr;

// A device with 1070.5 TFLOP/s and 4800 GB/s.
DeviceLimits hopper() {
  DeviceLimits limits;
  limits.arch = {90, 'a'};
  limits.sm_count = 132;
  limits.clock_khz = 1980'000;
  limits.memory_gbps = 4800.0;
  limits.l2_bytes = 60 << 20;
  return limits;
}

Problem long_problem(bool causal) { return {4, 4096, 16, 128, DType::fp16, causal}; }

TEST(Plausibility, ALongProblemTakesItsProducts) {
  const LeastTime least = least_time(long_problem(false), hopper(), true);
  EXPECT_NEAR(least.us, 4.0 * 4096 * 4096 * 64 * 128 / 1070.53e6, 0.1);
  EXPECT_THAT(least.arithmetic,
              HasSubstr("it needs 549.8 GFLOP, and 132 SMs at 1980 MHz and 4096 FLOP per SM and "
                        "clock do 1071 TFLOP/s"));
}

TEST(Plausibility, ProductsOfEightBitsTakeHalfOfTheTime) {
  const Problem eight = changed(long_problem(false), [](Problem& p) { p.dtype = DType::e4m3; });
  const LeastTime least = least_time(eight, hopper(), true);
  EXPECT_NEAR(2.0 * least.us, least_time(long_problem(false), hopper(), true).us, 1e-6);
  EXPECT_THAT(least.arithmetic, HasSubstr("8192 FLOP per SM and clock do 2141 TFLOP/s"));
}

TEST(Plausibility, UnderACausalMaskThePairsThatAreSeenCount) {
  const double all = least_time(long_problem(false), hopper(), true).us;
  const double causal = least_time(long_problem(true), hopper(), true).us;
  EXPECT_NEAR(causal / all, 4097.0 / (2 * 4096.0), 1e-9);
}

TEST(Plausibility, AShortProblemTakesItsBytes) {
  const Problem brief{512, 64, 16, 128, DType::fp16, false};  // tensors of 128 MiB
  const LeastTime cold = least_time(brief, hopper(), true);
  EXPECT_NEAR(cold.us, (3 * 128 + 128 - 60) * 1048576.0 / 4800e3, 1e-6);
  EXPECT_THAT(cold.arithmetic, HasSubstr("452 MiB of its tensors go through a memory of 4800"));
  EXPECT_EQ(least_time(brief, hopper(), false).us, cold.us) << "no more than an L2 is spared";
}

TEST(Plausibility, LogSumExpsAreBytesToo) {
  Problem brief{512, 64, 16, 128, DType::fp16, false};
  const double without = least_time(brief, hopper(), true).us;
  brief.lse = true;
  EXPECT_NEAR(least_time(brief, hopper(), true).us - without, 512 * 64 * 16 * 4 / 4800e3, 1e-6);
}

TEST(Plausibility, FewQueriesTakeTheBytesOfTheKeysThatTheySee) {
  Problem decode{8, 1, 32, 128, DType::fp16, true, 8192, 8};
  const double all = least_time(decode, hopper(), true).us;
  EXPECT_NEAR(all, 2.0 * 8 * 8 * 8192 * 128 * 2 / 4800e3, 0.1);
  EXPECT_LT(least_time(decode, hopper(), false).us, all) << "a part may be in the L2";
  decode.window = 1024;
  EXPECT_NEAR(least_time(decode, hopper(), true).us, all / 8, 0.1);
}

TEST(Plausibility, WarmTensorsThatFitTheL2TakeNoTime) {
  Problem brief{32, 64, 16, 128, DType::fp16, false};  // tensors of 8 MiB
  DeviceLimits limits = hopper();
  limits.clock_khz = 0;
  EXPECT_NEAR(least_time(brief, limits, true).us, 24 * 1048576.0 / 4800e3, 1e-6);
  EXPECT_EQ(least_time(brief, limits, false).us, 0.0);
}

TEST(Plausibility, OnlyWhatTakesLessIsImplausible) {
  const LeastTime least{100.0, "because"};
  EXPECT_FALSE(find_implausible(100.0, least));
  const auto found = find_implausible(99.9, least);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->time_us, 99.9);
  EXPECT_EQ(found->least_us, 100.0);
  EXPECT_EQ(found->reason, "the problem takes at least 100 us: because");
}

TEST(Plausibility, WhatIsNoTimeIsImplausibleWhateverIsKnown) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double us :
       {0.0, -1.0, 1e-320, 1e300, infinity, -infinity, std::numeric_limits<double>::quiet_NaN()}) {
    const auto found = find_implausible(us, LeastTime{});
    ASSERT_TRUE(found) << us;
    EXPECT_THAT(found->reason, HasSubstr("is not the time of a kernel"));
  }
}

TEST(Plausibility, LongAndBoundByArithmeticFollowsTheClock) {
  EXPECT_TRUE(follows_clock(long_problem(false), hopper(), true));
  Problem shorter = long_problem(false);
  shorter.batch = 3;
  EXPECT_FALSE(follows_clock(shorter, hopper(), true));
  Problem few_queries = long_problem(false);
  few_queries.batch = 16;
  few_queries.seq_len = 1;
  few_queries.seq_len_kv = 1 << 20;
  EXPECT_FALSE(follows_clock(few_queries, hopper(), true)) << "bound by memory";
  EXPECT_FALSE(follows_clock(long_problem(false), DeviceLimits{}, true));
}

TEST(Plausibility, OfADeviceWithoutFiguresEverythingIsBelieved) {
  const LeastTime least = least_time(long_problem(false), DeviceLimits{}, true);
  EXPECT_FALSE(find_implausible(0.001, least));
}

}  // namespace
}  // namespace fatune
