#include "print/run_report.hpp"

#include <gmock/gmock.h>

#include "print/document/document.hpp"
#include "unit/print/report_samples.hpp"

namespace fatune {
namespace {

using testing::HasSubstr;
using testing::Not;

Result failed(const std::string& config, Outcome outcome) {
  Result result;
  result.short_form = config;
  result.outcome = std::move(outcome);
  return result;
}

RunReport failing_run(std::vector<Result> failures) {
  RunReport run = sample_report(true);
  run.problems[0].failures = std::move(failures);
  return run;
}

TEST(FailureGroups, ReasonsThatDifferInNumbersOnlyAreOne) {
  const RunReport run = failing_run({failed("a", Unlaunchable{"needs 300000 bytes of 232448"}),
                                     failed("b", TimedOut{500.0}),
                                     failed("c", Unlaunchable{"needs 240000.5 bytes of 232448"})});
  const auto groups = failure_groups(run);
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups[0].count, 2U) << "the greatest group is first";
  EXPECT_EQ(groups[0].config, "a");
  EXPECT_EQ(groups[1].outcome, OutcomeKind::timed_out);
}

TEST(FailureGroups, AreOfAllProblemsAndDropsComeLast) {
  RunReport run = failing_run(
      {failed("a", Pruned{"keys", "4 of 5 keys"}), failed("b", Pruned{"keys", "other words"}),
       failed("c", Pruned{"waves", "other words"}), failed("d", Crashed{"it"})});
  run.problems.push_back(run.problems[0]);
  const auto groups = failure_groups(run);
  ASSERT_EQ(groups.size(), 3U);
  EXPECT_EQ(groups[0].outcome, OutcomeKind::crashed);
  EXPECT_EQ(groups[1].count, 4U) << "a rule is one reason, whatever its text";
  EXPECT_EQ(groups[2].count, 2U);
}

TEST(FailureGroups, TwentyNineEqualLinesAreOneBelowTheRanking) {
  const std::string note = "C7511: wgmma is serialized";
  const RunReport run =
      failing_run(std::vector<Result>(29, failed("(ws, 1): x", Serialized{note})));
  const std::string text = render(run_document(run, 10), OutputFormat::table);
  const std::size_t line = text.find(note);
  ASSERT_NE(line, std::string::npos);
  EXPECT_EQ(text.find(note, line + 1), std::string::npos);
  EXPECT_GT(line, text.find("rank  tie"));
  EXPECT_THAT(text, HasSubstr("   29  serialized  C7511"));
  EXPECT_THAT(text, HasSubstr("--filter \"outcome != 'measured'\""));
}

TEST(FailureGroups, WhatDoesNotCompileIsOneLineForEachReasonToo) {
  CompileReport report = sample_compilation();
  const std::string needs = "it needs sm_90a";
  report.configs[1].detail = needs;
  report.configs.resize(593, report.configs[1]);
  const std::string text = render(compile_document(report), OutputFormat::table);
  EXPECT_EQ(text.find(needs, text.find(needs) + 1), std::string::npos);
  EXPECT_THAT(text, HasSubstr("  592  compile_failed  it needs sm_90a  (B): y\n"));
  EXPECT_THAT(render(compile_document(report), OutputFormat::csv),
              testing::ContainsRegex("needs sm_90a.*\r\n.*needs sm_90a"));
}

TEST(FailureGroups, WithoutFailuresNothingIsSaid) {
  EXPECT_THAT(render(run_document(failing_run({})), OutputFormat::table),
              Not(HasSubstr("not in the rankings")));
}

}  // namespace
}  // namespace fatune
