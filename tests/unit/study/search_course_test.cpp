#include "study/search_course.hpp"

#include <gmock/gmock.h>

namespace fatune {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Result proposed(std::int64_t proposal, double us, const char* by) {
  Result result;
  result.proposal = proposal;
  result.proposed_by = by;
  Measured measured;
  measured.timing.median_us = us;
  result.outcome = measured;
  return result;
}

std::vector<std::pair<std::int64_t, double>> course_of(std::vector<Result> ranking) {
  ProblemReport report;
  report.ranking = std::move(ranking);
  std::vector<std::pair<std::int64_t, double>> points;
  for (const BestSoFar& best : search_course(report)) {
    points.emplace_back(best.proposal, best.us);
  }
  return points;
}

TEST(SearchCourse, HasWhatWasFasterThanAllBeforeIt) {
  EXPECT_THAT(course_of({proposed(5, 1.0, "model"), proposed(2, 3.0, "random"),
                         proposed(3, 4.0, "model"), proposed(1, 7.0, "estimate")}),
              ElementsAre(std::pair(1, 7.0), std::pair(2, 3.0), std::pair(5, 1.0)));
}

TEST(SearchCourse, LeavesOutWhatNobodyKnowsThePlaceOf) {
  EXPECT_THAT(course_of({proposed(0, 1.0, "")}), IsEmpty());
}

TEST(SearchCourse, IsOfASearchWhenOneHasChosen) {
  ProblemReport report;
  report.ranking = {proposed(1, 2.0, kTriesAll)};
  EXPECT_FALSE(was_searched(report));
  report.ranking.push_back(proposed(2, 3.0, "local"));
  EXPECT_TRUE(was_searched(report));
}

}  // namespace
}  // namespace fatune
