// Which rows say what configurations a time is predicted of.
#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "runtime/choose.hpp"

namespace fatune_attention::detail {
namespace {

constexpr TunedGpu kGpu{"GPU A", 90, 128};
constexpr RowConfig kOfOthers[] = {{0, 10.0, 0.0}};
constexpr RowConfig kOfAsManyRows[] = {{1, 10.0, 0.0}, {4, 11.1, 11.0}};
/// Configuration 2 shares the fit of 0, and has the other parameters of 1. 3 has others than both.
/// 4 is far behind. 5 has no fit. 1 and 4 are of another family.
constexpr FitKey kFitKeys[] = {{0, 0, 0}, {1, 1, 1}, {0, 1, 0}, {0, 2, 0}, {4, 1, 1}, {-1, -1, -1}};

/// One query of `heads` heads, which share one of K and V: as many packed rows.
Problem decoding(std::int64_t heads, std::int64_t keys) {
  Problem problem;
  problem.dtype = DType::bf16;
  problem.batch = 16;
  problem.heads = heads;
  problem.kv_heads = 1;
  problem.seq_len = 1;
  problem.seq_len_kv = keys;
  problem.d_head = problem.d_head_v = 128;
  return problem;
}

/// 25 rows of 32 packed rows and about 4096 keys, and one of 16 and 65,536 keys.
class NearestRowsOfFewQueries : public testing::Test {
 protected:
  NearestRowsOfFewQueries() {
    for (std::int64_t i = 0; i < 25; ++i) {
      rows_.push_back({0, decoding(32, 4096 + 8 * i), false, kOfOthers, 1});
    }
    rows_.push_back({0, decoding(16, 65536), false, kOfAsManyRows, 2});
    table_.gpus = {&kGpu, 1};
    table_.rows = {rows_.data(), static_cast<int>(rows_.size())};
    table_.fit_keys = {kFitKeys, 6};
  }

  [[nodiscard]] NearestRows of(const Problem& problem) const {
    return {table_, {problem, false}, 0};
  }

 private:
  std::vector<Row> rows_;
  Table table_{};
};

TEST_F(NearestRowsOfFewQueries, BeginWithThoseOfAsManyPackedRows) {
  const Problem twelve_heads = decoding(12, 4096);
  EXPECT_TRUE(of(twelve_heads).have(1));
  EXPECT_TRUE(of(twelve_heads).have(0));
  EXPECT_FALSE(of(decoding(32, 4096)).have(1)) << "twenty others are nearer";
}

TEST_F(NearestRowsOfFewQueries, HaveWhatCombinesTheirConfigurations) {
  const Problem twelve_heads = decoding(12, 4096);
  EXPECT_TRUE(of(twelve_heads).have(2));
  EXPECT_FALSE(of(twelve_heads).have(3));
  EXPECT_FALSE(of(decoding(32, 4096)).have(2)) << "none of the nearest has its other parameters";
}

TEST_F(NearestRowsOfFewQueries, LackWhatIsFarBehindTheirWinners) {
  EXPECT_FALSE(of(decoding(12, 4096)).have(4));
}

TEST_F(NearestRowsOfFewQueries, AreAsFarAsTheNearestOfAll) {
  const Distance distance = of(decoding(12, 4096)).nearest().distance;
  EXPECT_EQ(distance.buckets, 1) << "32 rows for 16";
  EXPECT_EQ(distance.octaves, 1.0);
}

/// Prompts of `heads` heads that share 8 of K and V.
Problem prompt(std::int64_t heads, std::int64_t positions) {
  Problem problem = decoding(heads, positions);
  problem.kv_heads = 8;
  problem.seq_len = positions;
  return problem;
}

/// Whether the rows nearest to a prompt have a configuration of the family that only one row has,
/// from which `nearer` rows are nearer.
bool have_family_behind(std::int64_t nearer) {
  std::vector<Row> rows{{0, prompt(8, 16384), false, kOfAsManyRows, 2}};
  for (std::int64_t i = 0; i < nearer; ++i) {
    rows.push_back({0, prompt(8, 4096 + 8 * i), false, kOfOthers, 1});
  }
  Table table{};
  table.gpus = {&kGpu, 1};
  table.rows = {rows.data(), static_cast<int>(rows.size())};
  table.fit_keys = {kFitKeys, 6};
  const Problem problem = prompt(8, 4000);
  return NearestRows(table, {problem, false}, 0).have(1);
}

TEST(NearestRows, HaveAFamilyOnlyIfAFewNearestHave) {
  EXPECT_TRUE(have_family_behind(4));
  EXPECT_FALSE(have_family_behind(5));
}

/// GPU A was tuned for prompts without groups and for decoding, GPU B also for groups of four.
class PredictingRows : public testing::Test {
 protected:
  [[nodiscard]] std::optional<int> gpu_for(const Problem& problem, const TunedGpu& gpu) const {
    const auto rows = predicting_rows(table_, {problem, false}, gpu);
    return rows ? std::optional(rows->gpu()) : std::nullopt;
  }

  [[nodiscard]] std::optional<int> other_gpu_for(const Problem& problem, int gpu) const {
    const auto rows = other_predicting_rows(table_, {problem, false}, gpu);
    return rows ? std::optional(rows->gpu()) : std::nullopt;
  }

  /// How many times are predicted to choose on GPU A, if so many configurations may be tried.
  [[nodiscard]] int predictions_for(const Problem& problem, int most) const {
    int predictions = 0;
    choose(
        table_, {problem, false}, kGpus[0], [](int) { return true; },
        [&](int, ModelTime& time) {
          ++predictions;
          time.clocks = 1.0;
          return true;
        },
        most);
    return predictions;
  }

  static constexpr TunedGpu kGpus[] = {
      {"GPU A", 90, 132}, {"GPU B", 90, 132}, {"another", 100, 148}};

 private:
  static constexpr RowConfig kWithoutFit[] = {{5, 10.0, 0.0}};
  const std::vector<Row> rows_{
      {0, prompt(8, 4096), false, kOfOthers, 1},  {0, prompt(8, 1024), false, kWithoutFit, 1},
      {0, decoding(8, 512), false, kOfOthers, 1}, {1, prompt(8, 4096), false, kOfOthers, 1},
      {1, prompt(32, 4096), false, kOfOthers, 1}, {1, decoding(8, 65536), false, kOfOthers, 1}};
  const std::vector<Fit> fits_{{0, kind_of(prompt(8, 4096)), 0, {}},
                               {0, kind_of(decoding(8, 512)), 0, {}},
                               {1, kind_of(prompt(8, 4096)), 0, {}},
                               {1, kind_of(decoding(8, 512)), 0, {}}};
  const Table table_{{},           {},
                     {kGpus, 3},   {rows_.data(), static_cast<int>(rows_.size())},
                     {},           {fits_.data(), static_cast<int>(fits_.size())},
                     {kFitKeys, 6}};
};

TEST_F(PredictingRows, AreThisGpusIfOneIsANeighbour) {
  EXPECT_EQ(gpu_for(prompt(8, 3000), kGpus[0]), 0);
  EXPECT_EQ(gpu_for(prompt(8, 3000), kGpus[1]), 1);
  EXPECT_EQ(gpu_for(prompt(16, 4096), kGpus[0]), 0) << "groups of two are next to those of one";
}

TEST_F(PredictingRows, AreElseThoseOfTheGpuWithTheNearest) {
  EXPECT_EQ(gpu_for(prompt(32, 3000), kGpus[0]), 1);
  EXPECT_EQ(gpu_for(prompt(8, 3000), {"GPU C", 90, 114}), 0) << "of equally near ones, the first";
  EXPECT_EQ(gpu_for(prompt(8, 3000), kGpus[2]), std::nullopt) << "of another architecture";
}

TEST_F(PredictingRows, AreNoneNearAWinnerWithoutAFit) {
  EXPECT_EQ(gpu_for(prompt(8, 900), kGpus[0]), std::nullopt);
}

TEST_F(PredictingRows, OfTheOtherGpuAreOfThoseOfItsArchitecture) {
  EXPECT_EQ(other_gpu_for(prompt(8, 3000), 0), 1);
  EXPECT_EQ(other_gpu_for(prompt(8, 3000), 1), 0);
  EXPECT_EQ(other_gpu_for(prompt(8, 900), 1), std::nullopt) << "the winner has no fit";
  EXPECT_EQ(other_gpu_for(prompt(8, 3000), 2), std::nullopt);
}

TEST_F(PredictingRows, OfTheOtherGpuAreAskedOnlyIfTheyAreTried) {
  EXPECT_EQ(predictions_for(prompt(8, 3000), 1), 1);
  EXPECT_EQ(predictions_for(prompt(8, 3000), 2), 2);
}

TEST_F(PredictingRows, OfFewQueriesAreChosenAlike) {
  EXPECT_EQ(gpu_for(decoding(8, 700), kGpus[0]), 0);
  EXPECT_EQ(gpu_for(decoding(8, 65536), kGpus[0]), 1);
}

using Items = std::vector<FastestPredicted::Item>;

FastestPredicted kept(const Items& items) {
  FastestPredicted fastest;
  for (const FastestPredicted::Item& item : items) {
    fastest.add(item);
  }
  return fastest;
}

/// Their configurations, in order.
std::vector<int> configurations_of(const FastestPredicted& fastest) {
  std::vector<int> configurations;
  for (int i = 0; i < fastest.count(); ++i) {
    configurations.push_back(fastest[i].configuration);
  }
  return configurations;
}

std::vector<int> fastest_of(const Items& items) { return configurations_of(kept(items)); }

std::vector<int> fastest_of_two(const Items& items, const Items& of_another_gpu) {
  FastestPredicted fastest = kept(items);
  fastest.append(kept(of_another_gpu));
  return configurations_of(fastest);
}

TEST(FastestPredicted, AreInTheOrderOfTheirTimes) {
  EXPECT_EQ(fastest_of({{0, 3.0, 0}, {1, 1.0, 1}, {2, 2.0, 2}}), (std::vector{1, 2, 0}));
  EXPECT_EQ(fastest_of({{0, 2.0, 0}, {1, 2.0, 1}}), (std::vector{0, 1}))
      << "the first of equal ones";
}

TEST(FastestPredicted, AreAFew) {
  std::vector<FastestPredicted::Item> items;
  for (int i = 0; i < 40; ++i) {
    items.push_back({i, 100.0 - i, i});
  }
  const std::vector<int> found = fastest_of(items);
  ASSERT_EQ(static_cast<int>(found.size()), FastestPredicted::kMost);
  EXPECT_EQ(found.front(), 39);
  EXPECT_EQ(found.back(), 40 - FastestPredicted::kMost);
}

TEST(FastestPredicted, EndWithTwoThatAnotherGpusTimesPredict) {
  EXPECT_EQ(fastest_of_two({{0, 1.0, 0}, {1, 2.0, 1}},
                           {{1, 5.0, 1}, {2, 6.0, 2}, {3, 7.0, 3}, {4, 8.0, 4}}),
            (std::vector{0, 1, 2, 3}))
      << "one is among the first";
  std::vector<FastestPredicted::Item> many;
  for (int i = 0; i < FastestPredicted::kMost; ++i) {
    many.push_back({i, 1.0 + 0.01 * i, i});
  }
  EXPECT_EQ(fastest_of_two(many, {{90, 5.0, 90}, {11, 6.0, 11}, {91, 7.0, 91}}),
            (std::vector{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 90, 11}))
      << "in place of the last ones";
  EXPECT_EQ(fastest_of_two(many, {{11, 5.0, 11}}), (std::vector{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11}));
  EXPECT_EQ(fastest_of_two(many, {{9, 5.0, 9}}), fastest_of(many));
}

TEST(FastestPredicted, AreNearIfTheyMayBeTheFastest) {
  FastestPredicted fastest;
  fastest.keep_near();
  EXPECT_EQ(fastest.count(), 0);
  for (const auto& [configuration, us] : {std::pair{0, 13.1}, {1, 10.0}, {2, 12.9}, {3, 20.0}}) {
    fastest.add({configuration, us, configuration});
  }
  EXPECT_EQ(fastest.count(), 4);
  fastest.keep_near();
  EXPECT_EQ(fastest.count(), 2) << "within 30 %";
}

TEST(FastestPredicted, DoTheSameOnlyOnce) {
  EXPECT_EQ(fastest_of({{0, 2.0, 7}, {1, 2.0, 7}, {2, 3.0, 7}}), (std::vector{0, 2}));
}

TEST(FastestPredicted, ShareAFitInThreesAtMost) {
  EXPECT_EQ(fastest_of({{0, 4.0, 7}, {1, 5.0, 7}, {2, 6.0, 7}, {3, 7.0, 7}, {4, 8.0, 8}}),
            (std::vector{0, 1, 2, 4}));
  EXPECT_EQ(
      fastest_of({{0, 4.0, 7}, {1, 5.0, 7}, {9, 5.5, 9}, {2, 6.0, 7}, {4, 8.0, 8}, {3, 3.0, 7}}),
      (std::vector{3, 0, 1, 9, 4}));
}

}  // namespace
}  // namespace fatune_attention::detail
