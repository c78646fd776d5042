#include "model/flop.hpp"

#include <gtest/gtest.h>

#include "model/problem.hpp"

namespace fatune {
namespace {

TEST(Traffic, EachTensorIsMovedOnce) {
  const Problem problem{
      .batch = 2, .seq_len = 64, .heads = 4, .d_head = 32, .seq_len_kv = 128, .kv_heads = 1};
  const std::int64_t q = 2 * 64 * 4 * 32 * 2;
  const std::int64_t k = 2 * 128 * 1 * 32 * 2;
  EXPECT_EQ(needed_input_bytes(problem), q + 2 * k);
  EXPECT_EQ(needed_bytes(problem), static_cast<double>(q + 2 * k + q));
}

TEST(Traffic, WantedLogSumExpsAreWritten) {
  Problem problem{.batch = 2, .seq_len = 64, .heads = 4, .d_head = 32};
  const double without = needed_bytes(problem);
  problem.lse = true;
  EXPECT_EQ(needed_bytes(problem), without + 2 * 64 * 4 * 4);
  EXPECT_EQ(needed_output_bytes(problem), 2 * 64 * 4 * (32 * 2 + 4));
}

TEST(Traffic, KeysThatNoQuerySeesNeedNotBeRead) {
  Problem problem{.batch = 1, .seq_len = 1, .heads = 1, .d_head = 64, .seq_len_kv = 1024};
  problem.causal = true;
  problem.window = 16;
  EXPECT_EQ(needed_input_bytes(problem), 64 * 2 + 2 * 16 * 64 * 2);
}

}  // namespace
}  // namespace fatune
