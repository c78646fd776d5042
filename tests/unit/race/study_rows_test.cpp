#include "race/study_rows.hpp"

#include <gmock/gmock.h>

#include "base/ranges.hpp"
#include "study_samples.hpp"

namespace fatune {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// A problem with `results` configurations. The fastest takes 100 us, and each further one 1 us
/// longer.
ProblemReport problem_with(int results) {
  std::vector<Result> ranking;
  for (int i = 0; i < results; ++i) {
    ranking.push_back(study_result(100.0 + i));
  }
  return study_problem(std::move(ranking));
}

TEST(StudyRows, AreAllRankedResultsWhenTheyAreFewEnough) {
  const std::vector<RunReport> runs{study_run({problem_with(2), problem_with(0)}),
                                    study_run({problem_with(1)})};
  const StudyRows table = study_rows(runs, 3);
  EXPECT_EQ(table.all, 3U);
  ASSERT_EQ(table.rows.size(), 3U);
  EXPECT_THAT(mapped(table.rows, &StudyRow::number), ElementsAre(0, 1, 2));
  EXPECT_EQ(table.rows[1].result, &runs[0].problems[0].ranking[1]);
  EXPECT_EQ(table.rows[2].problem, &runs[1].problems[0]);
  EXPECT_EQ(table.rows[2].run, &runs[1]);
  EXPECT_NEAR(table.rows[1].slower_percent, 1.0, 1e-12);
}

TEST(StudyRows, OfTooManyAreTheFastestAndAnEvenSampleOfTheOthers) {
  const std::vector<RunReport> runs{study_run({problem_with(20)})};
  const StudyRows table = study_rows(runs, 8);
  EXPECT_EQ(table.all, 20U);
  const auto percents = mapped(
      table.rows, [](const StudyRow& row) { return static_cast<int>(row.slower_percent + 0.5); });
  EXPECT_THAT(percents, ElementsAre(0, 1, 2, 3, 7, 11, 15, 19));
}

TEST(StudyRows, EachProblemGivesTheSameShare) {
  const std::vector<RunReport> runs{
      study_run({problem_with(50), problem_with(10), problem_with(40)})};
  const StudyRows table = study_rows(runs, 30);
  const auto count = [&](std::size_t problem) {
    return std::ranges::count(table.rows, &runs[0].problems[problem], &StudyRow::problem);
  };
  EXPECT_EQ(count(0), 15);
  EXPECT_EQ(count(1), 3);
  EXPECT_EQ(count(2), 12);
}

TEST(StudyRows, NothingOfNothing) { EXPECT_THAT(study_rows({}, 10).rows, IsEmpty()); }

}  // namespace
}  // namespace fatune
