#include "race/choose_search.hpp"

#include <gmock/gmock.h>

#include <set>

namespace fatune {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::Field;
using testing::SizeIs;

/// A space of two families. In `flat` all guesses are equal, in `steep` each is twice the one
/// before.
SearchSpace two_families() {
  SearchSpace space;
  for (std::int64_t tile = 0; tile < 8; ++tile) {
    for (const std::int64_t flag : {0, 1}) {
      space.points.push_back({{"flat", {tile, flag}}, {}, false, 100.0});
    }
    space.points.push_back({{"steep", {tile}}, {}, false, 10.0 * static_cast<double>(1 << tile)});
  }
  return space;
}

std::vector<Proposal> all_of(SearchSpace space, std::size_t most) {
  const auto source = promising_sample(most)->begin(std::move(space));
  return source->propose(CandidateSource::kNoLimit);
}

std::vector<Config> of_family(const std::vector<Proposal>& proposals, const std::string& family) {
  std::vector<Config> configs;
  for (const Proposal& proposal : proposals) {
    if (proposal.config.family == family) {
      configs.push_back(proposal.config);
    }
  }
  return configs;
}

TEST(PromisingSample, TakesThePromisingOfEachFamily) {
  const std::vector<Proposal> sample = all_of(two_families(), 6);
  EXPECT_THAT(of_family(sample, "steep"),
              ElementsAre(Config{"steep", {0}}, Config{"steep", {1}}, Config{"steep", {2}}));
  EXPECT_THAT(of_family(sample, "flat"), SizeIs(3));
  EXPECT_THAT(sample, Each(Field(&Proposal::proposed_by, "sample")));
}

TEST(PromisingSample, SpreadsWhatPromisesTheSame) {
  std::set<ParamValue> tiles;
  std::set<ParamValue> flags;
  for (const Config& config : of_family(all_of(two_families(), 8), "flat")) {
    tiles.insert(config.values[0]);
    flags.insert(config.values[1]);
  }
  EXPECT_THAT(tiles, SizeIs(4)) << "no tile twice";
  EXPECT_THAT(flags, SizeIs(2)) << "both values of the flag";
}

TEST(PromisingSample, BeginsWithWhatWasFastOnSimilarProblems) {
  SearchSpace space = two_families();
  const Config unlikely{"steep", {7}};
  space.suggested = {{{"steep", {99}}, "tuned neighbour"}, {unlikely, "tuned neighbour"}};
  const std::vector<Proposal> sample = all_of(space, 6);
  const auto found = std::ranges::find(sample, unlikely, &Proposal::config);
  ASSERT_NE(found, sample.end());
  EXPECT_EQ(found->proposed_by, "tuned neighbour");
  EXPECT_THAT(sample, SizeIs(6));
}

TEST(PromisingSample, LeavesOutWhatCannotRunUnlessNothingElseIsLeft) {
  SearchSpace space = two_families();
  space.points[0].guess_us = 0.0;
  const auto source = promising_sample(20)->begin(space);
  EXPECT_THAT(source->propose(CandidateSource::kNoLimit), SizeIs(20));
  EXPECT_EQ(source->untried_count(), 3U) << "could run";
  EXPECT_TRUE(source->finished());
  for (SearchPoint& point : space.points) {
    point.guess_us = 0.0;
  }
  EXPECT_THAT(all_of(space, 6), SizeIs(24)) << "so that the reasons can be said";
}

TEST(PromisingSample, TriesASmallSpaceWhole) {
  const std::vector<Proposal> all = all_of(two_families(), 24);
  EXPECT_THAT(all, SizeIs(24));
  EXPECT_THAT(all, Each(Field(&Proposal::proposed_by, "exhaustive")));
}

TEST(PromisingSample, TriesWhatIsRequiredToo) {
  SearchSpace space = two_families();
  space.points.back().required = true;  // the least promising
  EXPECT_THAT(all_of(space, 6), SizeIs(7));
}

TEST(SampleSize, IsSmallerForMoreProblemsButTakesAFewConfigurationsWhole) {
  EXPECT_EQ(sample_size(80, 8), 80U);
  EXPECT_EQ(sample_size(81, 1), 64U);
  EXPECT_EQ(sample_size(1000, 2), 32U);
  EXPECT_EQ(sample_size(1000, 100), 12U);
}

}  // namespace
}  // namespace fatune
