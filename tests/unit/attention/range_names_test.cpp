#include "attention/range_names.hpp"

#include <gtest/gtest.h>

namespace fatune {
namespace {

TEST(RangeNames, NameTheProblem) {
  const Problem problem{4, 8192, 16, 128, DType::fp16, true};
  EXPECT_EQ(bench_range_name("ws_pp", problem), "bench_ws_pp_B4_H16_N8192_D128");
  EXPECT_EQ(attention_range_name("flash_sm90", problem, "(ws_pp, FP16): lazy"),
            "attention_flash_sm90_B4_H16_N8192_D128 (ws_pp, FP16): lazy");
}

}  // namespace
}  // namespace fatune
