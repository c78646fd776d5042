#include "race/study_rows.hpp"

#include <gmock/gmock.h>

#include "model/measure_policy.hpp"
#include "study_samples.hpp"

namespace fatune {
namespace {

using testing::ElementsAre;
using testing::FieldsAre;
using testing::IsEmpty;

Result raced(const std::string& stopped_because) {
  Result result = study_result(10.0);
  std::get<Measured>(result.outcome).timing.stopped_because = stopped_because;
  return result;
}

ProblemReport raced_problem(std::vector<Result> ranking, StopReason reason = StopReason::target) {
  ProblemReport problem = study_problem(std::move(ranking));
  problem.measuring.emplace().stopped_because = reason;
  return problem;
}

TEST(RaceCourse, CountsThoseLeftBehindEachRound) {
  const auto course = race_course(
      raced_problem({raced("target reached"), raced("target reached"), raced(elimination_text(7)),
                     raced(elimination_text(2)), raced(elimination_text(2))}));
  EXPECT_THAT(course, ElementsAre(FieldsAre(0, 5U), FieldsAre(2, 3U), FieldsAre(7, 2U)));
}

TEST(RaceCourse, AdmissionIsRoundZero) {
  EXPECT_THAT(race_course(raced_problem({raced("budget used up"), raced(elimination_text(0))})),
              ElementsAre(FieldsAre(0, 2U), FieldsAre(0, 1U)));
}

TEST(RaceCourse, LeavesOutWhatTheRaceTookNoSamplesOf) {
  Result reused = raced(elimination_text(3));
  reused.reused = true;
  Result same_code = raced(elimination_text(4));
  same_code.same_code_as = "(FP16, 64)";
  EXPECT_THAT(race_course(raced_problem({raced("target reached"), reused, same_code})),
              ElementsAre(FieldsAre(0, 1U)));
}

TEST(RaceCourse, NothingWithoutARace) {
  EXPECT_THAT(race_course(raced_problem({raced("fixed count")}, StopReason::fixed_count)),
              IsEmpty());
  EXPECT_THAT(race_course(study_problem({raced("target reached")})), IsEmpty());
  EXPECT_THAT(race_course(raced_problem({})), IsEmpty());
}

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
