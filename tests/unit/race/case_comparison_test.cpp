#include "race/ranking.hpp"

#include <gtest/gtest.h>

namespace fatune {
namespace {

CaseResult result_of(const char* variant, std::int64_t seq_len, double us) {
  CaseResult result;
  result.variant = variant;
  result.problem = {1, seq_len, 32, 128, DType::fp16, false};
  if (us > 0.0) {
    Estimated estimated;
    estimated.estimate_us = us;
    result.best = Result{};
    result.best->outcome = estimated;
  }
  return result;
}

TEST(CompareCases, ComparesVariantsOnAProblemAndProblemsOfAVariant) {
  std::vector<CaseResult> results{result_of("ws", 100, 10.0), result_of("ws_pp", 100, 8.0),
                                  result_of("ws", 200, 20.0), result_of("ws_pp", 200, 10.0)};
  compare_cases(results);
  EXPECT_DOUBLE_EQ(*results[0].speed_up, 1.0);
  EXPECT_DOUBLE_EQ(*results[1].speed_up, 1.25);
  EXPECT_DOUBLE_EQ(*results[3].speed_up, 2.0);
  // Twice the length is four times the work.
  EXPECT_DOUBLE_EQ(*results[1].scaling, 1.0);
  EXPECT_DOUBLE_EQ(*results[2].scaling, 2.0);
  EXPECT_DOUBLE_EQ(*results[3].scaling, 3.2);
}

TEST(CompareCases, SaysNothingOfWhatHasNoTime) {
  std::vector<CaseResult> results{result_of("ws", 100, 0.0), result_of("ws_pp", 100, 8.0),
                                  result_of("ws", 200, 20.0), result_of("ws_pp", 200, 0.0)};
  compare_cases(results);
  EXPECT_FALSE(results[0].speed_up);
  EXPECT_FALSE(results[1].speed_up);
  EXPECT_FALSE(results[2].scaling);
  EXPECT_FALSE(results[3].speed_up);
  EXPECT_DOUBLE_EQ(*results[1].scaling, 1.0);
}

}  // namespace
}  // namespace fatune
