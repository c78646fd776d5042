#include "engine/candidate_maker.hpp"

#include <gmock/gmock.h>

namespace fatune {
namespace {

using testing::ElementsAre;

Result result(const std::string& config, const std::string& pruned_by, Outcome outcome) {
  Result result;
  result.short_form = config;
  result.pruned_by = pruned_by;
  result.outcome = std::move(outcome);
  result.compile_ms = 500.0;
  result.rank = 3;
  result.tie_group = 2;
  return result;
}

/// A measured time with two samples.
Measured measured(double us) {
  Measured measured;
  measured.timing.samples_us = {us, us};
  measured.timing.median_us = us;
  return measured;
}

ProblemPlan plan() {
  ProblemPlan plan;
  plan.audited = {{Config{}, "slow"}, {Config{}, "slow"}, {Config{}, "broken"}};
  plan.pruned_by_rule = {{"slow", 20}, {"broken", 3}, {"unseen", 4}};
  return plan;
}

ProblemReport report() {
  ProblemReport report;
  report.ranking = {result("winner", "", measured(100.0)), result("second", "", measured(110.0))};
  report.audited = {result("pruned 1", "slow", measured(125.0)),
                    result("pruned 2", "broken", Crashed{"x"}),
                    result("pruned 3", "slow", measured(80.0))};
  return report;
}

TEST(Audit, SaysWhatEachRuleSavedAndCost) {
  ProblemReport audited = report();
  add_audit(plan(), audited);
  ASSERT_EQ(audited.audit.size(), 3U);
  const RuleAudit& slow = audited.audit[0];
  EXPECT_EQ(slow.rule, "slow");
  EXPECT_EQ(slow.pruned, 20);
  EXPECT_EQ(slow.audited, 2);
  EXPECT_DOUBLE_EQ(slow.saved_compile_s, 10.0);  // two took 1 s, 20 would have taken ten times that
  EXPECT_DOUBLE_EQ(slow.saved_measure_s, 4100e-6);
  EXPECT_EQ(slow.best_config, "pruned 3");
  EXPECT_DOUBLE_EQ(slow.gain_percent, 25.0);
}

TEST(Audit, ARuleWhoseConfigurationsHaveNoTimeHasNoBest) {
  ProblemReport audited = report();
  add_audit(plan(), audited);
  const RuleAudit& broken = audited.audit[1];
  EXPECT_EQ(broken.audited, 1);
  EXPECT_DOUBLE_EQ(broken.saved_compile_s, 1.5);
  EXPECT_EQ(broken.saved_measure_s, 0.0);
  EXPECT_EQ(broken.best_config, "");
  EXPECT_EQ(broken.gain_percent, 0.0);
}

TEST(Audit, OfARuleThatHadNoTurnNothingIsKnown) {
  ProblemReport audited = report();
  add_audit(plan(), audited);
  const RuleAudit& unseen = audited.audit[2];
  EXPECT_EQ(unseen.pruned, 4);
  EXPECT_EQ(unseen.audited, 0);
  EXPECT_EQ(unseen.saved_compile_s, 0.0);
  EXPECT_EQ(unseen.best_config, "");
}

TEST(Audit, TheFastestStandFirstAndNoneIsRanked) {
  ProblemReport audited = report();
  add_audit(plan(), audited);
  std::vector<std::string> order;
  for (const Result& one : audited.audited) {
    order.push_back(one.short_form);
    EXPECT_EQ(one.rank, 0);
    EXPECT_EQ(one.tie_group, 0);
  }
  EXPECT_THAT(order, ElementsAre("pruned 3", "pruned 1", "pruned 2"));
}

TEST(Audit, WithoutAWinnerThereIsNoGain) {
  ProblemReport audited = report();
  audited.ranking.clear();
  add_audit(plan(), audited);
  EXPECT_EQ(audited.audit[0].best_config, "");
}

TEST(Audit, CountsWhatRulesDroppedWhenNoneWasTried) {
  ProblemPlan none = plan();
  none.audited.clear();
  ProblemReport report;
  add_audit(none, report);
  ASSERT_EQ(report.audit.size(), 3U);
  EXPECT_EQ(report.audit[0].rule, "slow");
  EXPECT_EQ(report.audit[0].pruned, 20);
  EXPECT_EQ(report.audit[0].audited, 0);
  EXPECT_EQ(report.audit[0].saved_compile_s, 0.0);
}

}  // namespace
}  // namespace fatune
