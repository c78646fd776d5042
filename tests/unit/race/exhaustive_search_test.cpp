#include "race/point_source.hpp"

#include <gmock/gmock.h>

#include "unit/race/grid_space.hpp"

namespace fatune {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(ExhaustiveSearchTest, ProposesWhatCannotRunAndThenLikelyWinnersFirst) {
  SearchSpace space = grid_space(4);
  space.points[0].guess_us = 10.0;
  space.points[2].guess_us = 0.0;
  space.points[3].pruned_by = "some-rule";
  space.points[3].required = true;
  const auto source = ExhaustiveSearch().begin(std::move(space));
  EXPECT_FALSE(source->learns());
  EXPECT_FALSE(source->finished());
  const std::vector<Proposal> all = source->propose(CandidateSource::kNoLimit);
  EXPECT_THAT(names_of(all), ElementsAre("02", "01", "03", "00"));
  EXPECT_EQ(all[1].pruned_by, "");
  EXPECT_EQ(all[2].pruned_by, "some-rule");
  EXPECT_EQ(all[0].proposed_by, "exhaustive");
  EXPECT_TRUE(source->finished());
  EXPECT_THAT(source->propose(1), IsEmpty());
}

TEST(ExhaustiveSearchTest, GivesNoMoreThanIsAskedFor) {
  const auto source = ExhaustiveSearch().begin(grid_space(2));
  EXPECT_THAT(names_of(source->propose(1)), ElementsAre("00"));
  EXPECT_FALSE(source->finished());
  EXPECT_THAT(names_of(source->propose(1)), ElementsAre("01"));
  EXPECT_TRUE(source->finished());
}

TEST(ExhaustiveSearchTest, StopsAtItsLimitBesidesWhatIsRequired) {
  SearchSpace space = grid_space(5);
  space.points[4].required = true;
  const auto source = ExhaustiveSearch(2).begin(std::move(space));
  EXPECT_THAT(names_of(source->propose(CandidateSource::kNoLimit)), ElementsAre("04", "00", "01"));
  EXPECT_TRUE(source->finished());
}

TEST(ExhaustiveSearchTest, OfNothingHasFinished) {
  EXPECT_TRUE(ExhaustiveSearch().begin({})->finished());
}

TEST(ExhaustiveSearchTest, HasNoNameSoThatOlderRunsAreResumed) {
  EXPECT_EQ(ExhaustiveSearch().name(), "");
  EXPECT_EQ(ExhaustiveSearch(7).name(), "exhaustive, at most 7");
  EXPECT_EQ(ExhaustiveSearch().most_tried(9), 9U);
  EXPECT_EQ(ExhaustiveSearch(7).most_tried(9), 7U);
}

}  // namespace
}  // namespace fatune
