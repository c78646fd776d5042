#include "race/study_rows.hpp"

#include <gmock/gmock.h>

#include "base/ranges.hpp"
#include "study_samples.hpp"

namespace fatune {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;

Result tried(const std::string& b_r, const std::string& swizzled, double us) {
  return study_result(us, {{"B_r", b_r}, {"swizzled", swizzled}});
}

const ParameterStudy& study_of(const std::vector<ParameterStudy>& studies,
                               const std::string& parameter) {
  return *std::ranges::find(studies, parameter, &ParameterStudy::parameter);
}

auto ends_of(const ParameterStudy& study) {
  return mapped(study.pairs, [](const PairStudy& pair) { return std::pair(pair.from, pair.to); });
}

TEST(StudyParameters, ComparesConfigurationsThatAreTheSameButForOne) {
  const auto studies = study_parameters({study_run({study_problem(
      {tried("64", "true", 100.0), tried("64", "false", 110.0), tried("128", "true", 150.0),
       tried("128", "false", 140.0), tried("32", "true", 200.0)})})});
  ASSERT_THAT(studies, SizeIs(2));
  const ParameterStudy& b_r = studies[0];  // B_r changes the times more
  EXPECT_EQ(b_r.parameter, "B_r");
  EXPECT_THAT(mapped(b_r.values, &ValueStudy::value), ElementsAre("32", "64", "128"));
  EXPECT_EQ(b_r.values[1].results, 2U);
  EXPECT_NEAR(b_r.values[1].slower_percent.median, 5.0, 1e-9);
  EXPECT_THAT(ends_of(b_r), ElementsAre(Pair("32", "64"), Pair("64", "128"), Pair("32", "128")));
  EXPECT_EQ(b_r.pairs[1].pairs, 2U);
  EXPECT_EQ(b_r.pairs[1].faster, 0U);
  EXPECT_NEAR(b_r.pairs[1].change_percent.greatest, 50.0, 1e-9);
  EXPECT_EQ(b_r.pairs[0].faster, 1U);
  EXPECT_NEAR(b_r.pairs[0].change_percent.median, -50.0, 1e-9);

  const ParameterStudy& swizzled = studies[1];
  ASSERT_THAT(ends_of(swizzled), ElementsAre(Pair("false", "true")));
  EXPECT_EQ(swizzled.pairs[0].pairs, 2U);
  EXPECT_EQ(swizzled.pairs[0].faster, 1U);
  EXPECT_LT(swizzled.change_percent, b_r.change_percent);
}

TEST(StudyParameters, NeverComparesDifferentProblemsFamiliesOrRuns) {
  const Result slow = tried("64", "true", 100.0);
  const Result fast = tried("128", "true", 50.0);
  Result of_other_family = fast;
  of_other_family.config.family = "g";
  for (const auto& runs :
       {std::vector{study_run({study_problem({slow}), study_problem({fast})})},
        std::vector{study_run({study_problem({of_other_family, slow})})},
        std::vector{study_run({study_problem({slow})}), study_run({study_problem({fast})})}}) {
    const auto studies = study_parameters(runs);
    ASSERT_THAT(studies, SizeIs(1));
    EXPECT_THAT(studies[0].values, SizeIs(2));
    EXPECT_THAT(studies[0].pairs, IsEmpty());
    EXPECT_EQ(studies[0].change_percent, 0.0);
  }
}

TEST(StudyParameters, SumsUpTheSameParameterOfSeveralProblems) {
  const auto problem = [](double factor) {
    return study_problem({tried("64", "true", factor), tried("128", "true", 2.0 * factor)});
  };
  const auto studies = study_parameters({study_run({problem(10.0), problem(30.0)})});
  ASSERT_THAT(studies, SizeIs(1));
  EXPECT_EQ(studies[0].values[1].results, 2U);
  ASSERT_THAT(studies[0].pairs, SizeIs(1));
  EXPECT_EQ(studies[0].pairs[0].pairs, 2U);
  EXPECT_NEAR(studies[0].pairs[0].change_percent.least, 100.0, 1e-9);
}

TEST(StudyParameters, PutsNumbersInOrderAndTextBehindThem) {
  const auto studies = study_parameters({study_run(
      {study_problem({tried("b", "true", 1.0), tried("10", "true", 1.0), tried("2.5", "true", 1.0),
                      tried("a", "true", 1.0), tried("-3", "true", 1.0)})})});
  EXPECT_THAT(mapped(study_of(studies, "B_r").values, &ValueStudy::value),
              ElementsAre("-3", "2.5", "10", "a", "b"));
}

TEST(StudyParameters, OfManyValuesNeighboursAloneArePaired) {
  std::vector<Result> ranking;
  for (int i = 0; i < 20; ++i) {
    ranking.push_back(tried(std::to_string(i), "true", 10.0 + i));
  }
  const auto studies = study_parameters({study_run({study_problem(std::move(ranking))})});
  EXPECT_THAT(studies[0].pairs, SizeIs(19));
}

TEST(StudyParameters, ComparesTheFirstOfThoseWithTheSameParameters) {
  const auto studies = study_parameters({study_run({study_problem(
      {tried("64", "true", 10.0), tried("128", "true", 20.0), tried("128", "true", 40.0)})})});
  EXPECT_EQ(studies[0].values[1].results, 2U);
  ASSERT_THAT(studies[0].pairs, SizeIs(1));
  EXPECT_EQ(studies[0].pairs[0].pairs, 1U);
  EXPECT_NEAR(studies[0].pairs[0].change_percent.median, 100.0, 1e-9);
}

TEST(StudyParameters, LeavesOutResultsWithoutAUsableTime) {
  EXPECT_THAT(study_parameters({study_run(
                  {study_problem({tried("64", "true", 10.0), tried("128", "true", 0.0)})})}),
              IsEmpty());
}

TEST(StudyParameters, NothingOfNothing) {
  EXPECT_THAT(study_parameters({}), IsEmpty());
  EXPECT_THAT(study_parameters({study_run({study_problem({tried("64", "true", 10.0)})})}),
              IsEmpty());
}

}  // namespace
}  // namespace fatune
