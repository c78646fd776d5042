#include <algorithm>
#include <random>
#include <set>

#include <gmock/gmock.h>

#include "base/error.hpp"
#include "race/choose_search.hpp"
#include "race/point_source.hpp"
#include "race/simulate.hpp"
#include "unit/race/grid_space.hpp"

namespace fatune {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::size_t kWhole = 100;

std::unique_ptr<CandidateSource> begin(SearchKind kind, SearchSpace space, std::uint64_t seed = 1,
                                       std::optional<std::size_t> max_configs = kWhole) {
  return choose_search(kind, {seed, max_configs}, space.points.size())->begin(std::move(space));
}

/// Times that form a bowl with its bottom at {6, 3}, where the guess is far off. One in seven tries
/// fails.
RecordedTries bowl(const SearchSpace& space) {
  RecordedTries tries;
  for (const SearchPoint& point : space.points) {
    const auto row = static_cast<double>(point.config.values[0] - 6);
    const auto column = static_cast<double>(point.config.values[1] - 3);
    const bool fails = (point.config.values[0] * 10 + point.config.values[1]) % 7 == 1;
    tries[point.config] = {
        fails ? Outcome(Crashed{"it failed"}) : measured_us(10.0 + row * row + column * column),
        1.0};
  }
  return tries;
}

std::vector<SimulatedTry> replay(SearchKind kind, std::uint64_t seed, double until_us = 0.0) {
  const SearchSpace space = grid_space(kWhole);
  return simulate(*begin(kind, space, seed), bowl(space), 4, {until_us, 0});
}

std::set<Config> configs_of(const std::vector<SimulatedTry>& tries) {
  std::set<Config> configs;
  for (const SimulatedTry& one : tries) {
    configs.insert(one.config);
  }
  return configs;
}

class EverySearch : public testing::TestWithParam<SearchKind> {};

TEST_P(EverySearch, TriesTheWholeSpaceOnceWhenItMay) {
  const std::vector<SimulatedTry> tries = replay(GetParam(), 1);
  EXPECT_THAT(tries, SizeIs(kWhole));
  EXPECT_THAT(configs_of(tries), SizeIs(kWhole));
}

TEST_P(EverySearch, OfNothingEndsAtOnce) {
  const auto source = begin(GetParam(), SearchSpace{});
  EXPECT_THAT(source->propose(5), IsEmpty());
  EXPECT_TRUE(source->finished());
}

TEST_P(EverySearch, ReplaysTheSameForTheSameSeed) {
  const auto configs = [](const std::vector<SimulatedTry>& tries) {
    std::vector<Config> list;
    for (const SimulatedTry& one : tries) {
      list.push_back(one.config);
    }
    return list;
  };
  EXPECT_EQ(configs(replay(GetParam(), 3)), configs(replay(GetParam(), 3)));
  if (GetParam() != SearchKind::exhaustive) {
    EXPECT_NE(configs(replay(GetParam(), 3)), configs(replay(GetParam(), 4)));
  }
}

TEST_P(EverySearch, TriesWhatIsRequiredFirstAndNoMoreThanItMay) {
  SearchSpace space = grid_space(kWhole);
  space.points[77].required = true;
  space.points[78].required = true;
  const RecordedTries recorded = bowl(space);
  const auto source = begin(GetParam(), std::move(space), 1, 20);
  const std::vector<SimulatedTry> tries = simulate(*source, recorded, 4, {});
  EXPECT_THAT(tries, SizeIs(22));
  EXPECT_EQ(tries[0].config.values, (std::vector<ParamValue>{7, 7}));
  EXPECT_TRUE(source->finished());
  EXPECT_THAT(source->propose(5), IsEmpty());
}

TEST_P(EverySearch, TakesUpWhatAnInterruptedRunHadTried) {
  const SearchSpace space = grid_space(kWhole);
  const auto source = begin(GetParam(), space, 1, 20);
  const std::vector<Proposal> first = source->propose(first_request(*source, 4));
  const std::vector<Config> earlier{first[0].config, space.points[98].config, {"grid", {99, 99}}};
  const std::vector<Proposal> again = source->propose_again(earlier);
  EXPECT_THAT(names_of(again), ElementsAre("98"));
  EXPECT_EQ(again[0].proposed_by, "interrupted run");
  EXPECT_THAT(source->propose_again(earlier), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(All, EverySearch,
                         testing::Values(SearchKind::exhaustive, SearchKind::random,
                                         SearchKind::local, SearchKind::model),
                         [](const auto& one) { return std::string(enum_name(one.param)); });

TEST(LearningSearches, FindTheBestSoonerThanTheGuessesAndChance) {
  constexpr double kBestUs = 10.0;
  std::map<SearchKind, std::size_t> tried;
  for (const SearchKind kind :
       {SearchKind::exhaustive, SearchKind::random, SearchKind::local, SearchKind::model}) {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      tried[kind] += tried_until(replay(kind, seed, kBestUs), kBestUs).value();
    }
  }
  EXPECT_LT(tried[SearchKind::local], tried[SearchKind::exhaustive]);
  EXPECT_LT(tried[SearchKind::local], tried[SearchKind::random]);
  EXPECT_LT(tried[SearchKind::model], tried[SearchKind::exhaustive]);
  EXPECT_LT(tried[SearchKind::model], tried[SearchKind::random]);
}

TEST(LearningSearches, TrySuggestionsFirst) {
  for (const SearchKind kind : {SearchKind::local, SearchKind::model}) {
    SearchSpace space = grid_space(kWhole);
    space.suggested = {
        {{"grid", {4, 2}}, "tuned"}, {{"other", {1}}, "tuned"}, {{"grid", {4, 2}}, "tuned"}};
    const auto source = begin(kind, std::move(space), 1, 8);
    const std::vector<Proposal> first = source->propose(2);
    // A local search descends from the suggestion once its outcome is known.
    ASSERT_THAT(first, SizeIs(kind == SearchKind::local ? 1U : 2U));
    EXPECT_EQ(names_of(first).front(), "42");
    EXPECT_EQ(first.front().proposed_by, "tuned");
    EXPECT_EQ(first.back().proposed_by, kind == SearchKind::local ? "tuned" : "estimate");
    source->suggest({{{"grid", {9, 9}}, "other problem"}});
    EXPECT_THAT(names_of(source->propose(1)), ElementsAre("99"));
    EXPECT_THAT(source->propose(kWhole), SizeIs(testing::Le(5U)));
  }
}

TEST(LearningSearches, DescendFromASuggestion) {
  SearchSpace space = grid_space(kWhole);
  const Config bottom{"grid", {6, 3}};
  space.suggested = {{{"grid", {6, 5}}, "tuned"}};
  const RecordedTries recorded = bowl(space);
  const std::vector<SimulatedTry> tries =
      simulate(*begin(SearchKind::local, std::move(space)), recorded, 1, {10.0, 0});
  EXPECT_EQ(tries.back().config, bottom);
  EXPECT_LT(tries.size(), 40U);
}

TEST(LearningSearches, LeaveOutWhatCannotRun) {
  SearchSpace space = grid_space(10);
  space.points[4].guess_us = 0.0;
  const auto source = begin(SearchKind::random, std::move(space));
  EXPECT_THAT(source->propose(CandidateSource::kNoLimit), SizeIs(9));
}

TEST(LearningSearches, AskForFewUntilTheyAreToldOutcomes) {
  const auto source = begin(SearchKind::local, grid_space(kWhole));
  EXPECT_EQ(first_request(*source, 4), 4U);
  EXPECT_THAT(names_of(source->propose(4)), ElementsAre("00", "01", "02", "03"));
  EXPECT_THAT(source->propose(4), IsEmpty());
  EXPECT_FALSE(source->finished());
}

TEST(LocalSearch, NeighboursDifferInOneParameter) {
  EXPECT_TRUE(are_neighbours({"a", {1, 2}}, {"a", {1, 7}}));
  EXPECT_FALSE(are_neighbours({"a", {1, 2}}, {"a", {1, 2}}));
  EXPECT_FALSE(are_neighbours({"a", {1, 2}}, {"a", {3, 4}}));
  EXPECT_FALSE(are_neighbours({"a", {1, 2}}, {"b", {1, 7}}));
}

TEST(ChooseSearch, IsExhaustiveForSmallProblemsOnly) {
  const auto automatic = [](std::size_t greatest, SearchLimits limits = {}) {
    return choose_search(SearchKind::automatic, limits, greatest);
  };
  EXPECT_EQ(automatic(kMostExhaustive)->name(), "");
  EXPECT_EQ(automatic(100, {1, 100})->name(), "");
  const auto large = automatic(kMostExhaustive + 1);
  EXPECT_EQ(large->name(), "auto, seed 1");
  EXPECT_EQ(large->most_tried(kMostExhaustive), kMostExhaustive);
  EXPECT_EQ(large->most_tried(1'000), 50U);
  EXPECT_EQ(large->most_tried(4'000), 200U);
  EXPECT_EQ(large->most_tried(10'000), 256U);
  EXPECT_EQ(automatic(100, {3, 99})->name(), "auto, seed 3, at most 99");
  EXPECT_EQ(automatic(100, {3, 99})->most_tried(100), 99U);
  EXPECT_EQ(automatic(100, {3, 99})->most_tried(98), 98U);
}

/// Times of a grid's points that rise with the distance from {6, 3}, by up to a third.
RecordedTries hollow(const SearchSpace& space) {
  RecordedTries tries;
  for (const SearchPoint& point : space.points) {
    const auto row = static_cast<double>(point.config.values[0] - 6);
    const auto column = static_cast<double>(point.config.values[1] - 3);
    tries[point.config] = {measured_us(10.0 + 0.05 * (row * row + column * column)), 1.0};
  }
  return tries;
}

TEST(AutomaticSearch, EndsWhenTheRestIsUnlikelyToBeFaster) {
  const SearchSpace space = grid_space(kWhole);
  const auto source = begin(SearchKind::automatic, space, 1, kWhole - 1);
  const std::vector<SimulatedTry> tries = simulate(*source, hollow(space), 4, {0.0, kWhole});
  EXPECT_TRUE(tried_until(tries, 10.05).has_value());
  EXPECT_LT(tries.size(), 60U);
  EXPECT_TRUE(source->finished());
  EXPECT_EQ(source->untried_count(), kWhole - tries.size());
  EXPECT_THAT(source->untried_because(), testing::HasSubstr("unlikely to be over 0.5 % faster"));
}

TEST(AutomaticSearch, TriesMoreWhereTimesCannotBePredicted) {
  const SearchSpace space = grid_space(kWhole);
  std::vector<Outcome> outcomes;
  for (const auto& [config, recorded] : hollow(space)) {
    outcomes.push_back(recorded.outcome);
  }
  std::mt19937_64 random(1);
  std::ranges::shuffle(outcomes, random);
  RecordedTries shuffled = hollow(space);
  for (auto& [config, recorded] : shuffled) {
    recorded.outcome = outcomes.back();
    outcomes.pop_back();
  }
  const auto tried = [&](const RecordedTries& tries) {
    const auto source = begin(SearchKind::automatic, space, 1, kWhole - 1);
    return simulate(*source, tries, 4, {0.0, kWhole}).size();
  };
  EXPECT_GT(tried(shuffled), tried(hollow(space)));
}

TEST(ModelSearch, KeepsHalfOfItsTriesUntilItHasLearnt) {
  const auto source = begin(SearchKind::model, grid_space(kWhole), 1, 40);
  EXPECT_THAT(source->propose(kWhole), SizeIs(20));
  EXPECT_THAT(source->propose(kWhole), IsEmpty());
  EXPECT_FALSE(source->finished());
}

TEST(ModelSearch, PrefersWhatIsCompiledWhereTheGainIsAlike) {
  const SearchSpace space = grid_space(kWhole);
  std::mt19937_64 random(1);
  std::normal_distribution<double> noise(1.0, 0.002);
  std::size_t compiled_without_knowing = 0;
  std::size_t compiled = 0;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const auto tried = [seed](const SearchSpace& in, const RecordedTries& recorded) {
      const auto source = begin(SearchKind::model, in, seed, 40);
      return configs_of(simulate(*source, recorded, 4, {0.0, kWhole}));
    };
    const std::set<Config> first_run = tried(space, hollow(space));
    RecordedTries noisy = hollow(space);
    for (auto& [config, recorded] : noisy) {
      recorded.outcome = measured_us(ranked_us(recorded.outcome) * noise(random));
    }
    SearchSpace known = space;
    known.has_code = [&](const Config& config) { return first_run.contains(config); };
    const auto new_to = [&](const std::set<Config>& configs) {
      return configs.size() -
             static_cast<std::size_t>(std::ranges::count_if(
                 configs, [&](const Config& one) { return first_run.contains(one); }));
    };
    compiled_without_knowing += new_to(tried(space, noisy));
    compiled += new_to(tried(known, noisy));
  }
  EXPECT_LT(3 * compiled, 2 * compiled_without_knowing);
}

TEST(LearningSearches, SayWhenTheirLimitEndedThem) {
  const auto source = begin(SearchKind::random, grid_space(kWhole), 1, 20);
  EXPECT_EQ(source->untried_because(), "");
  EXPECT_THAT(source->propose(CandidateSource::kNoLimit), SizeIs(20));
  EXPECT_EQ(source->untried_count(), 80U);
  EXPECT_EQ(source->untried_because(), "the search tries at most 20");
}

TEST(ChooseSearch, TriesEnoughToLearnFrom) {
  const auto random = choose_search(SearchKind::random, {}, 10);
  EXPECT_EQ(random->name(), "random, seed 1");
  EXPECT_EQ(random->most_tried(50), 50U);
  EXPECT_EQ(random->most_tried(1'000), 128U);
}

TEST(SearchNames, AreReadBack) {
  for (const SearchKind kind : {SearchKind::automatic, SearchKind::exhaustive, SearchKind::random,
                                SearchKind::local, SearchKind::model}) {
    EXPECT_EQ(parse_enum<SearchKind>(enum_name(kind)), kind);
  }
  EXPECT_THROW(static_cast<void>(parse_enum<SearchKind>("best")), Error);
}

TEST(Simulation, IsToldOfTheShortestCompilationFirst) {
  SearchSpace space = grid_space(3);
  RecordedTries recorded;
  double compile_ms = 30.0;
  for (const SearchPoint& point : space.points) {
    recorded[point.config] = {measured_us(1.0), compile_ms};
    compile_ms -= 10.0;
  }
  const auto ended = [&](std::size_t jobs) {
    std::vector<ParamValue> order;
    for (const SimulatedTry& one :
         simulate(*begin(SearchKind::exhaustive, space), recorded, jobs, {})) {
      order.push_back(one.config.values[1]);
    }
    return order;
  };
  EXPECT_THAT(ended(1), ElementsAre(0, 1, 2));
  EXPECT_THAT(ended(3), ElementsAre(2, 1, 0));
}

TEST(Simulation, CountsHowManyWereTried) {
  const std::vector<SimulatedTry> tries{{{}, 5.0}, {{}, std::nullopt}, {{}, 4.0}};
  EXPECT_EQ(tried_until(tries, 4.5), 3U);
  EXPECT_EQ(tried_until(tries, 5.0), 1U);
  EXPECT_FALSE(tried_until(tries, 3.9));
}

}  // namespace
}  // namespace fatune
