// Times that are predicted from measured ones: their fits, and choices by them.
#include "choose/time_fit.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/ranges.hpp"
#include "choose/cover.hpp"
#include "choose/tuned_choice.hpp"
#include "unit/choose/table_samples.hpp"

namespace fatune {
namespace {

using samples::config;
using samples::problem;

// Kernels of a made-up family whose model knows nothing of the first configuration's slow launches,
// nor of what the second loses while SMs are idle.
constexpr double kIdle = 0.2;

ModelTime model_on(std::int64_t seq_len) {
  const auto clocks = 100.0 * static_cast<double>(seq_len);
  return {clocks, {1.0, 0.1, 2000.0 / clocks, seq_len % 1024 == 0 ? 0.0 : kIdle}};
}

double true_us(std::int64_t number, std::int64_t seq_len) {
  const ModelTime model = model_on(seq_len);
  const double log_error = number == 1   ? 0.5 * model.parts[2]
                           : number == 2 ? 0.25 * model.parts[3]
                           : number == 3 ? 0.02
                                         : 0.0;
  return 2e-3 * model.clocks * std::exp(log_error);
}

TunedProblem row_of(std::int64_t seq_len, std::initializer_list<int> numbers) {
  std::vector<std::pair<int, double>> times;
  std::vector<KnownTime> known;
  for (const int number : numbers) {
    times.emplace_back(number, true_us(number, seq_len));
    known.push_back({config(number), static_cast<std::size_t>(number), 0, model_on(seq_len),
                     times.back().second, false});
  }
  std::ranges::sort(times, {}, &std::pair<int, double>::second);
  TunedProblem row = samples::row(problem(seq_len), times);
  row.known = std::make_shared<const std::vector<KnownTime>>(known);
  return row;
}

TunedTable table_of(std::initializer_list<std::int64_t> lengths) {
  std::vector<TunedProblem> rows;
  for (const std::int64_t seq_len : lengths) {
    rows.push_back(row_of(seq_len, {1, 2, 3}));
  }
  return samples::table(std::move(rows));
}

ConfigRules rules() {
  return {samples::anything_goes(),
          [](const Config&, const Problem& problem, const DeviceLimits&) {
            return std::optional(model_on(problem.seq_len));
          },
          [](const Config& config) { return fmt::format("c{}", config.values[0]); }};
}

const fatune_attention::detail::TimeFit* fit_of(const TunedTable& table, int number) {
  const auto* const found = find_in(table.fits, config(number), &FittedTime::config);
  return found == nullptr ? nullptr : &found->fit;
}

TEST(TimeFit, PredictsTimesThatWereNotMeasured) {
  const TunedTable table = table_of({512, 1024, 1536, 2048, 4096, 6000});
  ASSERT_EQ(table.fits.size(), 3U);
  for (const int number : {1, 2, 3}) {
    for (const std::int64_t seq_len : {700, 3072, 5000}) {
      const double us = predicted_us(*fit_of(table, number), model_on(seq_len));
      EXPECT_NEAR(us / true_us(number, seq_len), 1.0, 0.015) << number << " on " << seq_len;
    }
  }
}

TEST(TimeFit, ChoosesWhatIsPredictedToBeFastest) {
  const TunedTable table = table_of({512, 1024, 1536, 2048, 4096, 6000});
  for (const std::int64_t seq_len : {600, 3072, 5000}) {
    const TunedChoice choice = choose_tuned(table, problem(seq_len), samples::gpu(), rules());
    EXPECT_EQ(choice.step, ChoiceStep::predicted);
    for (const int number : {1, 2, 3}) {
      EXPECT_LE(true_us(choice.config.values[0], seq_len), 1.005 * true_us(number, seq_len));
    }
    EXPECT_NEAR(*choice.predicted_us / true_us(choice.config.values[0], seq_len), 1.0, 0.02);
    EXPECT_EQ(predicted_order(table, problem(seq_len), samples::gpu(), rules()).front(),
              choice.config);
  }
}

TEST(TimeFit, ATunedProblemKeepsItsWinner) {
  const TunedChoice choice =
      choose_tuned(table_of({512, 1024, 1536}), problem(1024), samples::gpu(), rules());
  EXPECT_EQ(choice.step, ChoiceStep::exact);
  EXPECT_FALSE(choice.predicted_us);
}

TEST(TimeFit, WithoutAModelTheNearestRowDecides) {
  const TunedTable table = table_of({512, 1024, 2048});
  const TunedChoice choice =
      choose_tuned(table, problem(1100), samples::gpu(), samples::anything_goes());
  EXPECT_EQ(choice.step, ChoiceStep::same_bucket);
}

TEST(TimeFit, NothingIsPredictedNearAWinnerWithoutAModel) {
  TunedTable table = table_of({512, 1024, 2048});
  table.problems.push_back(samples::row(problem(3000), {{9, 1.0}}));
  finish_table(table);
  EXPECT_FALSE(table.fits.empty());
  const auto step_on = [&](std::int64_t seq_len) {
    return choose_tuned(table, problem(seq_len), samples::gpu(), rules()).step;
  };
  EXPECT_EQ(step_on(1100), ChoiceStep::predicted);
  EXPECT_NE(step_on(2900), ChoiceStep::predicted);
}

TEST(TimeFit, WhatLostARaceIsPredictedToLoseIt) {
  // 4 is the fastest on 512, the only row that has its time. On the others it lost the race.
  const auto table_with = [](bool has_losses) {
    std::vector<TunedProblem> rows{row_of(512, {1, 4})};
    for (const std::int64_t seq_len : {1024, 2048, 4096, 8192}) {
      rows.push_back(row_of(seq_len, {1}));
      std::vector<KnownTime> known = *rows.back().known;
      if (has_losses) {
        known.push_back({config(4), 4, 0, model_on(seq_len), 1.1 * true_us(1, seq_len), true});
      }
      rows.back().known = std::make_shared<const std::vector<KnownTime>>(known);
    }
    return samples::table(std::move(rows));
  };
  const auto chosen_on = [](const TunedTable& table) {
    return choose_tuned(table, problem(3072), samples::gpu(), rules()).short_form;
  };
  EXPECT_EQ(chosen_on(table_with(false)), "c4");
  EXPECT_EQ(chosen_on(table_with(true)), "c1");
}

/// A row with the times of configurations of two parameters: the first, from 1, has a fit. The
/// second shortens times by a percent for each, as the model says.
TunedProblem row_of_pairs(std::int64_t seq_len,
                          std::initializer_list<std::pair<int, int>> configs) {
  TunedProblem row{model_of(samples::gpu()), problem(seq_len), {}, 0};
  std::vector<KnownTime> known;
  for (const auto& [like, rest] : configs) {
    ModelTime model = model_on(seq_len);
    model.clocks *= 1.0 - 0.01 * rest;
    const double us = 2e-3 * model.clocks * (1.0 + 0.1 * (like - 1));
    const Config config{"pairs", {like, rest}};
    row.times.push_back({config, fmt::format("c{}", like), us, 0.0, 1, "gpu", false});
    known.push_back(
        {config, static_cast<std::size_t>(like), static_cast<std::size_t>(rest), model, us, false});
  }
  row.known = std::make_shared<const std::vector<KnownTime>>(known);
  return row;
}

ConfigRules rules_of_pairs() {
  return {samples::anything_goes(),
          [](const Config& config, const Problem& problem, const DeviceLimits&) {
            ModelTime model = model_on(problem.seq_len);
            model.clocks *= 1.0 - 0.01 * static_cast<double>(config.values[1]);
            return std::optional(model);
          },
          [](const Config& config) {
            return fmt::format("c{} p{}", config.values[0], config.values[1]);
          }};
}

/// The first has the faster code with the slower rest.
TunedTable table_of_pairs() {
  TunedTable table;
  table.not_fitted["pairs"] = {1};
  table.gpus[model_of(samples::gpu())] = samples::gpu();
  for (const std::int64_t seq_len : {512, 1024, 2048, 4096}) {
    table.problems.push_back(row_of_pairs(seq_len, {{1, 0}, {2, 5}}));
  }
  finish_table(table);
  return table;
}

TEST(TimeFit, AFamilyIsNotPredictedFarBeyondWhatWasMeasuredOfIt) {
  // Family "g" is the fastest on 512, the only row on which it was measured.
  std::vector<TunedProblem> rows{row_of(512, {1}), row_of(1024, {1}), row_of(2048, {1})};
  const double us = 0.8 * rows[0].times.front().time_us;
  std::vector<KnownTime> known = *rows[0].known;
  known.push_back({config(5, "g"), 5, 1, model_on(512), us, false});
  rows[0] = samples::row(problem(512), {{1, rows[0].times.front().time_us}});
  rows[0].times.insert(rows[0].times.begin(), {config(5, "g"), "g5", us, 0.0, 1, "gpu"});
  rows[0].known = std::make_shared<const std::vector<KnownTime>>(known);
  const TunedTable table = samples::table(std::move(rows));
  const auto family_on = [&](std::int64_t seq_len) {
    return choose_tuned(table, problem(seq_len), samples::gpu(), rules()).config.family;
  };
  EXPECT_EQ(family_on(760), "g") << "less than 1.5 times as long; 1024 is nearer";
  EXPECT_EQ(family_on(780), "f");
  EXPECT_EQ(family_on(2900), "f");
  EXPECT_EQ(choose_tuned(table, problem(4300), samples::gpu(), rules()).step, ChoiceStep::predicted)
      << "2.1 times as long as what was measured of the winner's family";
}

TEST(TimeFit, CombinesWhatFitsTellApartWithTheRestOfOthers) {
  const TunedTable table = table_of_pairs();
  ASSERT_EQ(table.fits.size(), 4U);
  const TunedChoice choice = choose_tuned(table, problem(3000), samples::gpu(), rules_of_pairs());
  EXPECT_EQ(choice.step, ChoiceStep::predicted);
  EXPECT_EQ(choice.config, (Config{"pairs", {1, 5}})) << "no row has its time";
  EXPECT_EQ(choice.short_form, "c1 p5");
  EXPECT_NEAR(*choice.predicted_us, 2e-3 * 0.95 * model_on(3000).clocks, 3.0);
}

TEST(TimeFit, OfACoverCombinesNothing) {
  const TunedTable table = table_of_pairs();
  Cover cover;
  cover.configs = {{{"pairs", {1, 0}}, {}, 2, 0.0, 0.0}, {{"pairs", {2, 5}}, {}, 2, 0.0, 0.0}};
  const TunedTable covered = restricted_to(table, cover);
  EXPECT_EQ(covered.fits.size(), 2U);
  EXPECT_EQ(choose_tuned(covered, problem(3000), samples::gpu(), rules_of_pairs()).config,
            (Config{"pairs", {1, 0}}));
  EXPECT_EQ(RuntimeTable(covered).configs().size(), 2U);
}

TEST(TimeFit, ATimeOfFewSpreadSamplesSaysLess) {
  // 1 and 3 take nearly as long as each other. 1 had a bad start on the rows near the problem.
  const auto table_with = [](double noise) {
    std::vector<TunedProblem> rows;
    for (const std::int64_t seq_len : {512, 1024, 2048, 4096}) {
      rows.push_back(row_of(seq_len, {1, 3}));
      std::vector<KnownTime> known = *rows.back().known;
      known[0].us *= seq_len < 2048 ? 1.1 : 1.0;
      known[0].noise = seq_len < 2048 ? noise : 0.0;
      rows.back().known = std::make_shared<const std::vector<KnownTime>>(known);
    }
    return samples::table(std::move(rows));
  };
  const auto error_on_700 = [](const TunedTable& table) {
    return std::log(predicted_us(*fit_of(table, 1), model_on(700)) /
                    predicted_us(*fit_of(table, 3), model_on(700)) * true_us(3, 700) /
                    true_us(1, 700));
  };
  const double of_sure_times = error_on_700(table_with(0.0));
  EXPECT_GT(of_sure_times, 0.04);
  EXPECT_LT(std::abs(error_on_700(table_with(0.05))), 0.5 * of_sure_times);
}

TEST(TimeFit, OfARowThatIsLeftOutKnowsNothingOfIt) {
  TunedTable table = table_of({512, 1024, 2048, 4096});
  const TunedTable rest = without_row(table, 2);
  const TunedTable never = table_of({512, 1024, 4096});
  for (const int number : {1, 2, 3}) {
    EXPECT_EQ(fit_of(rest, number)->log_us, fit_of(never, number)->log_us);
    EXPECT_EQ(fit_of(rest, number)->parts, fit_of(never, number)->parts);
    EXPECT_NE(fit_of(rest, number)->log_us, fit_of(table, number)->log_us);
  }
}

TEST(TimeFit, ExpectsOnlyWhatWasMeasuredAsFarAway) {
  const TunedTable table = table_of({512, 609, 724, 861, 1024, 1218, 1448, 1722, 2048, 2900});
  const std::vector<LeftOut> left_out = leave_one_out(table, rules());
  const auto expected_on = [&](const Problem& wanted) {
    return predict(table, left_out, wanted, samples::gpu(), rules());
  };
  const Prediction near = expected_on(problem(1100));
  EXPECT_EQ(near.choice.step, ChoiceStep::predicted);
  EXPECT_EQ(near.expected.known, 10U);
  EXPECT_LT(near.expected.regret.worst_percent.value_or(100.0), 3.0);
  EXPECT_LT(near.expected.time_error.worst_percent.value_or(100.0), 5.0);
  const Prediction farther = expected_on(problem(3900));
  EXPECT_EQ(farther.choice.untuned, "");
  EXPECT_EQ(farther.expected.known, 0U) << "only one row is as far from the others";
  EXPECT_FALSE(farther.expected.regret.typical_percent);
  Problem shared_heads = problem(1200, 1);
  shared_heads.kv_heads = 1;
  EXPECT_FALSE(expected_on(shared_heads).expected.regret.typical_percent);
}

TEST(TimeFit, SaysWhatTrialsFindOnARowThatIsLeftOut) {
  const auto left_out_with_winner = [](int winner) {
    std::vector<TunedProblem> rows;
    for (const std::int64_t seq_len : {512, 1024, 2048, 4096}) {
      rows.push_back(row_of(seq_len, {1, 2, 3}));
    }
    std::vector<std::pair<int, double>> times{{winner, 10.0}};
    for (const int other : {1, 2, 3}) {
      if (other != winner) {
        times.emplace_back(other, 10.5 + 0.1 * other);
      }
    }
    rows.push_back(samples::row(problem(1500), times));
    rows.back().known = std::make_shared<const std::vector<KnownTime>>();
    const TunedTable table = samples::table(std::move(rows));
    return leave_one_out(table, rules(),
                         [](const TunedProblem& row) { return row.problem.seq_len == 1500; })
        .front();
  };
  const LeftOut tried = left_out_with_winner(3);
  EXPECT_EQ(tried.choice.tried.size(), 3U);
  EXPECT_EQ(tried.choice.tried.front(), tried.choice.config);
  EXPECT_GT(*tried.regret_percent, 5.0) << "3 is not predicted to be the fastest";
  EXPECT_EQ(*tried.tried_regret_percent, 0.0);
  const LeftOut untried = left_out_with_winner(9);
  EXPECT_NEAR(*untried.tried_regret_percent, 6.0, 1e-9) << "no other row has a time of 9";
  const KnownRegrets both = summarize_regrets({tried, untried}).tried;
  EXPECT_EQ(both.problems, 2U);
  EXPECT_NEAR(*both.median_percent, 3.0, 1e-9);
  EXPECT_NEAR(*both.worst_percent, 6.0, 1e-9);
}

TEST(TimeFit, SaysThatNoRowIsAsFar) {
  const TunedTable table = samples::table(
      {row_of(512, {1, 2}), row_of(600, {1, 2}), row_of(15000, {1, 2}), row_of(16384, {1, 2})});
  const Prediction far =
      predict(table, leave_one_out(table, rules()), problem(3000), samples::gpu(), rules());
  EXPECT_EQ(far.choice.untuned,
            "all numbers together: 4.6 octaves from the nearest tuned problem; no tuned problem is "
            "as far from the others");
  EXPECT_FALSE(far.expected.regret.typical_percent);
}

TEST(TimeFit, AnUnknownRegretIsNoSmallOne) {
  std::vector<TunedProblem> rows;
  for (const std::int64_t seq_len : {512, 700, 1024, 1500, 2048, 3000, 4096}) {
    rows.push_back(row_of(seq_len, {1, 2}));
  }
  rows.back().times = samples::row(problem(4096), {{9, 1.0}}).times;
  rows.back().known = std::make_shared<const std::vector<KnownTime>>();
  const TunedTable table = samples::table(std::move(rows));
  const Prediction of_some =
      predict(table, leave_one_out(table, rules()), problem(1030), samples::gpu(), rules());
  EXPECT_EQ(of_some.expected.known, 5U) << "3000 is nearest to the row that has no model";
  EXPECT_TRUE(of_some.expected.regret.typical_percent);
  EXPECT_FALSE(of_some.expected.regret.worst_percent);
}

}  // namespace
}  // namespace fatune
