#include "model/outcome.hpp"

#include <gtest/gtest.h>

#include <map>
#include <stdexcept>
#include <vector>

#include "base/error.hpp"

namespace fatune {
namespace {

std::vector<Outcome> one_of_each() {
  Measured measured;
  measured.timing.median_us = 12.5;
  measured.timing.samples_us = {12.5};
  return {Pruned{"rule", "why"},
          Invalid{"rule", "why"},
          CompileFailed{"note\nx.cu(1): error: no\nmore"},
          CompilerCrashed{"signal 11", "the compiler crashed: signal 11"},
          Serialized{"C7512: too few registers"},
          Unlaunchable{"too many threads"},
          Crashed{"CUDA_ERROR_ILLEGAL_ADDRESS"},
          TimedOut{2000.0},
          WrongResult{{}, "off by 0.5"},
          Implausible{3.0, 40.5, "10 GFLOP"},
          Flagged{{}, "race: reads what thread 3 writes"},
          Estimated{3.0, {}},
          measured};
}

TEST(Outcome, NamesFollowTheAlternatives) {
  const std::vector<std::string_view> names{
      "pruned",       "invalid",   "compile_failed", "compiler_crashed", "serialized",
      "unlaunchable", "crashed",   "timed_out",      "wrong_result",     "implausible",
      "flagged",      "estimated", "measured"};
  const std::vector<Outcome> outcomes = one_of_each();
  ASSERT_EQ(outcomes.size(), std::variant_size_v<Outcome>);
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    EXPECT_EQ(outcome_name(outcomes[i]), names[i]);
    EXPECT_FALSE(outcome_summary(outcomes[i]).empty());
  }
}

TEST(Outcome, ASummaryShowsTheFirstErrorOfALog) {
  EXPECT_EQ(outcome_summary(CompileFailed{"note\nx.cu(1): error: no\nmore"}), "x.cu(1): error: no");
  EXPECT_EQ(outcome_summary(CompileFailed{"only this"}), "only this");
  EXPECT_EQ(outcome_summary(CompileFailed{""}), "no log");
}

TEST(Outcome, AnImplausibleOneSaysWhy) {
  EXPECT_EQ(outcome_summary(Implausible{3.0, 40.5, "10 GFLOP take 40.5 us"}),
            "3 us cannot be believed: 10 GFLOP take 40.5 us");
}

TEST(Outcome, OnlyMeasuredAndEstimatedAreRanked) {
  for (const Outcome& outcome : one_of_each()) {
    const bool ranked = outcome_name(outcome) == "measured" || outcome_name(outcome) == "estimated";
    EXPECT_EQ(is_ranked(outcome), ranked);
    if (!ranked) {
      EXPECT_THROW((void)ranked_us(outcome), std::logic_error);
    }
  }
  EXPECT_EQ(ranked_us(Estimated{3.0, {}}), 3.0);
  EXPECT_EQ(ranked_us(one_of_each().back()), 12.5);
}

TEST(Outcome, OnlyWhatWasComparedIsVerified) {
  EXPECT_EQ(verified_by(Measured{}), "");
  EXPECT_EQ(verified_by(Measured{{}, {"gpu references, all rows", 1, {}}}), "gpu");
  EXPECT_EQ(verified_by(Estimated{3.0, {}}), "");
  Verification emulated;
  emulated.inputs = {ErrorStats{}};
  EXPECT_EQ(verified_by(Estimated{3.0, {}, emulated}), "emulated");
  EXPECT_EQ(verified_by(WrongResult{emulated, "off"}), "");
  EXPECT_EQ(verified_by(Flagged{emulated, "race"}), "");
}

TEST(Outcome, AVerificationWithoutInputsIsNone) {
  EXPECT_EQ(verification_of(Measured{}), nullptr);
  EXPECT_EQ(verification_of(Crashed{"error"}), nullptr);
  const Outcome wrong = WrongResult{{"emulated", 1, {ErrorStats{}}}, "off"};
  ASSERT_NE(verification_of(wrong), nullptr);
  EXPECT_EQ(verification_of(wrong)->method, "emulated");
}

TEST(ErrorStats, RowsAreThoseOfO) {
  const std::vector<RowMismatches> rows{{"normal", 4, {}, {}, {}}, {"large_logits", 5, {}, {}, {}}};
  ErrorStats stats;
  stats.input = "large_logits";
  ASSERT_TRUE(rows_of(rows, stats));
  EXPECT_EQ(rows_of(rows, stats)->rows_per_head, 5);
  EXPECT_FALSE(rows_of({}, stats));
  stats.output = "lse";
  EXPECT_FALSE(rows_of(rows, stats));
}

TEST(ErrorStats, PercentageOfNothingIsZero) {
  EXPECT_EQ(ErrorStats{}.mismatched_percent(), 0.0);
  ErrorStats stats;
  stats.elements = 8;
  stats.mismatched = 2;
  EXPECT_EQ(stats.mismatched_percent(), 25.0);
}

}  // namespace
}  // namespace fatune
