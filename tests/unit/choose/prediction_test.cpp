#include "choose/tuned_choice.hpp"

#include <gtest/gtest.h>

#include "unit/choose/table_samples.hpp"

namespace fatune {
namespace {

using samples::problem;
using samples::row;

Prediction predict_for(const Problem& wanted) {
  const TunedTable table = samples::table(
      {row(problem(512), {{1, 10.0}, {2, 10.5}}), row(problem(1024), {{2, 20.0}, {1, 24.0}})});
  const WhyNot why_not = samples::anything_goes();
  return predict(table, leave_one_out(table, why_not), wanted, samples::gpu(), why_not);
}

TEST(Prediction, OfATunedProblemHasItsOwnRegret) {
  const Prediction exact = predict_for(problem(512));
  EXPECT_EQ(exact.choice.short_form, "c1");
  EXPECT_EQ(exact.expected.regret.typical_percent, 0.0);
  EXPECT_EQ(exact.expected.known, 1U);
}

TEST(Prediction, HasTheRegretOfTheChoiceOnEachNeighbour) {
  const Prediction between = predict_for(problem(600));
  ASSERT_EQ(between.neighbours.size(), 2U);
  EXPECT_EQ(between.neighbours[0].near.row, 0U);
  EXPECT_EQ(between.neighbours[0].regret_percent, 0.0);
  EXPECT_NEAR(*between.neighbours[1].regret_percent, 20.0, 1e-9);
}

/// Six rows, each a neighbour of the next: c1 and c2 win in turn, by 5 % and 20 %.
TunedTable six_lengths() {
  std::vector<TunedProblem> rows;
  for (const std::int64_t seq_len : {512, 1024, 2048, 4096, 8192, 16384}) {
    rows.push_back(rows.size() % 2 == 0 ? row(problem(seq_len), {{1, 10.0}, {2, 10.5}})
                                        : row(problem(seq_len), {{2, 10.0}, {1, 12.0}}));
  }
  return samples::table(std::move(rows));
}

Prediction predict_among_six(const TunedTable& table) {
  const WhyNot why_not = samples::anything_goes();
  return predict(table, leave_one_out(table, why_not), problem(600), samples::gpu(), why_not);
}

TEST(Prediction, TakesTheRegretsOfTheNextStepWhereItsOwnHasNone) {
  const Prediction between = predict_among_six(six_lengths());
  EXPECT_EQ(between.choice.step, ChoiceStep::same_bucket);
  EXPECT_EQ(between.expected.known, 6U);
  EXPECT_NEAR(*between.expected.regret.typical_percent, 12.5, 1e-9);
  EXPECT_NEAR(*between.expected.regret.worst_percent, 20.0, 1e-9);
}

TEST(Prediction, ExpectsNothingFromFewLeftOutProblems) {
  const Prediction between = predict_for(problem(600));
  EXPECT_EQ(between.choice.step, ChoiceStep::same_bucket);
  EXPECT_EQ(between.expected.known, 0U);
  EXPECT_FALSE(between.expected.regret.typical_percent);
}

TEST(Prediction, AnUnknownRegretIsGreaterThanAllOthers) {
  TunedTable table = six_lengths();
  table.problems[0].times.pop_back();
  const Prediction one_unknown = predict_among_six(table);
  EXPECT_EQ(one_unknown.expected.known, 5U);
  EXPECT_NEAR(*one_unknown.expected.regret.typical_percent, 20.0, 1e-9);
  EXPECT_FALSE(one_unknown.expected.regret.worst_percent);
  for (TunedProblem& tuned : table.problems) {
    tuned.times.resize(1);
  }
  EXPECT_FALSE(predict_among_six(table).expected.regret.typical_percent);
}

TEST(Prediction, HasNoRegretOutsideTheTunedRange) {
  const Prediction far = predict_for(problem(65536));
  EXPECT_EQ(far.choice.short_form, "c2");
  EXPECT_TRUE(far.neighbours.empty());
  EXPECT_EQ(far.choice.untuned, "queries: 65536; tuned: 512 to 1024");
  EXPECT_FALSE(far.expected.regret.typical_percent);
  EXPECT_FALSE(far.expected.regret.worst_percent);
  EXPECT_EQ(far.expected.known, 0U);
  const Prediction beside = predict_for(problem(300));
  EXPECT_EQ(beside.choice.step, ChoiceStep::neighbour_bucket);
  EXPECT_EQ(beside.choice.untuned, "queries: 300; tuned: 512 to 1024");
  EXPECT_FALSE(beside.expected.regret.typical_percent);
}

TEST(Prediction, OfLengthsIsThatOfAsManyKeysAsThereIsRoomForWithoutARegret) {
  Problem lengths = problem(512);
  lengths.seq_lens_kv = "uniform:1-100:0";
  const Prediction chosen = predict_for(lengths);
  EXPECT_EQ(chosen.choice.short_form, "c1");
  EXPECT_EQ(chosen.choice.step, ChoiceStep::same_bucket) << "no row has lengths";
  EXPECT_EQ(chosen.choice.untuned, "");
  EXPECT_EQ(chosen.neighbours.size(), 2U);
  EXPECT_FALSE(chosen.expected.regret.typical_percent);
  EXPECT_EQ(chosen.expected.known, 0U);
}

/// If 512 is left out, 1024 is its neighbour, and so on. 16384 has no neighbour.
TunedTable four_lengths() {
  return samples::table(
      {row(problem(512), {{1, 10.0}, {2, 10.5}}), row(problem(1024), {{2, 20.0}, {1, 24.0}}),
       row(problem(2048), {{2, 40.0}, {3, 41.0}}), row(problem(16384), {{3, 80.0}})});
}

TEST(LeaveOneOut, ChoosesAsIfTheRowHadNotBeenTuned) {
  const std::vector<LeftOut> all = leave_one_out(four_lengths(), samples::anything_goes());
  ASSERT_EQ(all.size(), 4U);
  EXPECT_EQ(all[0].choice.short_form, "c2");
  EXPECT_NEAR(*all[0].regret_percent, 5.0, 1e-9);
  EXPECT_EQ(all[1].choice.short_form, "c1") << "512 and 2048 are as near; the first is taken";
  EXPECT_NEAR(*all[1].regret_percent, 20.0, 1e-9);
  EXPECT_TRUE(all[2].is_winner);
  EXPECT_EQ(all[3].choice.step, ChoiceStep::nearest);
  EXPECT_FALSE(all[3].regret_percent) << "c2 has no time on it";
}

TEST(LeaveOneOut, IsSummarisedOverWhatIsKnown) {
  const std::vector<LeftOut> all = leave_one_out(four_lengths(), samples::anything_goes());
  const RegretSummary summary = summarize_regrets(all);
  EXPECT_EQ(summary.problems, 4U);
  EXPECT_EQ(summary.winners, 1U);
  EXPECT_EQ(summary.known.problems, 3U);
  EXPECT_NEAR(*summary.known.median_percent, 5.0, 1e-9);
  EXPECT_NEAR(*summary.known.worst_percent, 20.0, 1e-9);
  EXPECT_EQ(summarize_regrets(all, ChoiceStep::neighbour_bucket).problems, 3U);
  EXPECT_FALSE(summarize_regrets(all, ChoiceStep::nearest).known.median_percent);
  EXPECT_EQ(summary.tried.worst_percent, summary.known.worst_percent)
      << "only predicted configurations are tried";
}

TEST(LeaveOneOut, CountsWhatCannotBeToldApartFromTheWinner) {
  TunedTable table = four_lengths();
  table.problems[0].times[1].tie_group = 1;
  const RegretSummary summary = summarize_regrets(leave_one_out(table, samples::anything_goes()));
  EXPECT_EQ(summary.winners, 1U);
  EXPECT_EQ(summary.ties, 2U);
}

TEST(LeaveOneOut, IsRefusedWithOneRowAlone) {
  const TunedTable table = samples::table({row(problem(512), {{1, 10.0}})});
  const std::vector<LeftOut> all = leave_one_out(table, samples::anything_goes());
  EXPECT_EQ(all[0].choice.step, ChoiceStep::refused);
  EXPECT_EQ(summarize_regrets(all).refused, 1U);
}

}  // namespace
}  // namespace fatune
