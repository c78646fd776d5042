#include "model/problem.hpp"

#include <gtest/gtest.h>

#include "model/flop.hpp"
#include "unit/base/throws_error.hpp"

namespace fatune {
namespace {

TEST(Problem, DefaultBatchKeepsTheTokensWithin65536) {
  for (const std::int64_t seq_len : {512, 1024, 2048, 4096}) {
    EXPECT_EQ(default_batch(seq_len), 16) << seq_len;
  }
  EXPECT_EQ(default_batch(8192), 8);
  EXPECT_EQ(default_batch(16384), 4);
  EXPECT_EQ(default_batch(1), 16);
  EXPECT_EQ(default_batch(4097), 8);
  EXPECT_EQ(default_batch(65536), 1);
  EXPECT_EQ(default_batch(1 << 20), 1);
}

TEST(Problem, IsNamedByOptions) {
  Problem problem{4, 1, 32, 128, DType::bf16, true};
  EXPECT_EQ(option_text(problem), "--seq 1 --batch 4 --heads 32 --dhead 128 --dtype BF16 --causal");
  problem.seq_len_kv = 8192;
  problem.kv_heads = 8;
  problem.lse = true;
  problem.layout = Layout::bhsd;
  EXPECT_EQ(option_text(problem),
            "--seq 1 --batch 4 --heads 32 --dhead 128 --dtype BF16 --causal --seq-kv 8192 "
            "--kv-heads 8 --lse --layout bhsd");
}

TEST(Problem, FlopCounts) {
  Problem problem{2, 128, 3, 64, DType::bf16, false};
  EXPECT_EQ(attention_flop(problem), 6.0 * (4.0 * 128 * 128 * 64 + 6.0 * 128 * 128));
  EXPECT_EQ(literature_flop(problem), 6.0 * 4.0 * 128 * 128 * 64);
  problem.causal = true;
  EXPECT_EQ(attention_flop(problem), 6.0 * (4.0 * 128 * 128 * 64 + 6.0 * 128 * 128));
  EXPECT_EQ(literature_flop(problem), 6.0 * 2.0 * 128 * 128 * 64);
}

TEST(Problem, SizesOfATensor) {
  const Problem problem{4, 16384, 16, 128};
  EXPECT_EQ(tensor_elements(problem, TensorRole::q), std::int64_t{4} * 16384 * 16 * 128);
  EXPECT_EQ(tensor_bytes(problem, TensorRole::q), std::int64_t{8} * 16384 * 16 * 128);
}

TEST(Problem, RefusesExtentsThatAreNotPositive) {
  const Problem good{1, 1, 1, 64};
  EXPECT_NO_THROW(check_problem(good));
  for (const auto member :
       {&Problem::batch, &Problem::seq_len, &Problem::heads, &Problem::d_head}) {
    for (const std::int64_t value : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{1} << 40}) {
      Problem bad = good;
      bad.*member = value;
      fixtures::expect_error([&] { check_problem(bad); }, ExitCode::usage,
                             {std::to_string(value), "it must be an integer from 1"});
    }
  }
}

TEST(Problem, DtypesAreReadInAnyCase) {
  EXPECT_EQ(parse_dtype("fp16"), DType::fp16);
  EXPECT_EQ(parse_dtype("Bf16"), DType::bf16);
  EXPECT_EQ(dtype_name(DType::fp16), "FP16");
  fixtures::expect_error([] { (void)parse_dtype("fp8"); }, ExitCode::usage, {"'fp8'", "bf16"});
}

TEST(Problem, DescriptionIsStable) {
  EXPECT_EQ(describe({16, 4096, 16, 128, DType::fp16, true}), "b16 s4096 h16 d128 FP16 causal");
  EXPECT_EQ(file_name_part({16, 4096, 16, 128, DType::fp16, true}),
            "b16_s4096_h16_d128_FP16_causal");
  EXPECT_EQ(describe({1, 63, 2, 64, DType::bf16, false}), "b1 s63 h2 d64 BF16");
}

TEST(Problem, WhatIsUsualFollowsWhenItIsChanged) {
  const Problem usual{1, 64, 4, 64, DType::fp16, true};
  EXPECT_EQ(changed(usual,
                    [](Problem& p) {
                      p.seq_len = 128;
                      p.heads = 8;
                      p.d_head = 256;
                    }),
            (Problem{1, 128, 8, 256, DType::fp16, true}));
  Problem grouped = usual;
  grouped.kv_heads = 2;
  grouped.window = 9;
  const Problem more = changed(grouped, [](Problem& p) { p.heads = 8; });
  EXPECT_EQ(more.kv_heads, 2);
  EXPECT_EQ(more.window, 9);
}

TEST(RangeNames, NameTheProblem) {
  const Problem problem{4, 8192, 16, 128, DType::fp16, true};
  EXPECT_EQ(bench_range_name("ws_pp", problem), "bench_ws_pp_B4_H16_N8192_D128");
  EXPECT_EQ(attention_range_name("flash_sm90", problem, "(ws_pp, FP16): lazy"),
            "attention_flash_sm90_B4_H16_N8192_D128 (ws_pp, FP16): lazy");
}

}  // namespace
}  // namespace fatune
