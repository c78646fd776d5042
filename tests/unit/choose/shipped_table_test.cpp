// The choice among the winners that fatune ships, with the families' own rules.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "base/ranges.hpp"
#include "choose/time_fit.hpp"
#include "choose/tuned_choice.hpp"
#include "choose/tuned_file.hpp"
#include "model/device_limits.hpp"
#include "model/kv_lengths.hpp"
#include "model/problem.hpp"
#include "plan/planner.hpp"
#include "store/results_file.hpp"

namespace fatune {
namespace {

class ShippedTable : public testing::Test {
 protected:
  [[nodiscard]] TunedTable table_of(const std::vector<std::string>& paths) const {
    SourceHashes unknown;
    for (const Family& family : families_.all()) {
      unknown[family.name] = {};
    }
    TunedTable table;
    for (const std::string& path : paths) {
      for (RunReport& run : read_results_text(tree_.read(path), path)) {
        run.source_hashes.clear();
        add_tuned(run, path, {families_, unknown}, table);
      }
    }
    add_model_times(table, families_);
    finish_table(table);
    return table;
  }
  [[nodiscard]] RegretSummary left_out_of(const TunedTable& table) const {
    return summarize_regrets(leave_one_out(table, rules_), ChoiceStep::predicted);
  }

  const FileTree tree_;
  const FamilySet families_{{load_family(tree_, "flash_decode"),
                             load_family(tree_, "flash_decode_sm80"),
                             load_family(tree_, "flash_sm80"), load_family(tree_, "flash_sm90")}};
  const ConfigRules rules_ = families_say(families_);
  const TunedTable table_ = table_of({"configs/tuned/nvidia-h200.json"});
};

TEST_F(ShippedTable, IsReadWhole) {
  EXPECT_GE(table_.problems.size(), 72U);
  EXPECT_TRUE(table_.skipped.empty());
}

TEST_F(ShippedTable, ChoosesOnlyWhatIsEligibleAndTheSameAgain) {
  std::mt19937 engine(7);
  const auto below = [&](std::int64_t end) {
    return std::uniform_int_distribution<std::int64_t>(0, end - 1)(engine);
  };
  const DeviceLimits& h200 = table_.gpus.begin()->second;
  std::size_t chosen = 0;
  for (int i = 0; i < 500; ++i) {
    Problem problem{1 + below(32),
                    1 + below(20000),
                    8 << below(3),
                    64 << below(3),
                    below(2) == 0 ? DType::fp16 : DType::bf16,
                    below(2) == 0};
    problem.kv_heads = 8 >> below(3);
    problem.d_head_v = below(8) == 0 ? 32 : problem.d_head;
    const TunedChoice choice = choose_tuned(table_, problem, h200, rules_);
    EXPECT_EQ(choose_tuned(table_, problem, h200, rules_).short_form, choice.short_form);
    if (choice.step == ChoiceStep::refused) {
      EXPECT_NE(problem.d_head_v, problem.d_head) << choice.refusal;
      continue;
    }
    ++chosen;
    const Family& family = families_.of(choice.config);
    EXPECT_FALSE(check_valid(family, choice.config, &problem, &h200));
    EXPECT_FALSE(check_limits({family, choice.config, problem, h200}));
  }
  EXPECT_GT(chosen, 300U);
}

TEST_F(ShippedTable, RefusesAnotherArchitectureWithTheReason) {
  const DeviceLimits ampere = load_device_limits(tree_, {80, '\0'});
  const TunedChoice choice =
      choose_tuned(table_, {16, 4096, 16, 128, DType::fp16, false}, ampere, rules_);
  EXPECT_EQ(choice.step, ChoiceStep::refused);
  EXPECT_EQ(choice.refusal, "flash_sm90 needs sm_90a, the device is sm_80");
}

TEST_F(ShippedTable, HasSmallRegretsWhenRowsAreLeftOut) {
  const RegretSummary summary = left_out_of(table_);
  EXPECT_EQ(summary.problems, table_.problems.size());
  EXPECT_GT(summary.known.problems, 8 * summary.problems / 10);
  EXPECT_LT(summary.known.median_percent.value_or(100.0), 0.5);
  EXPECT_LT(summary.known.worst_percent.value_or(100.0), 6.0);
}

TEST_F(ShippedTable, HasSmallRegretsForWhatModelsRun) {
  const TunedTable table = table_of({"configs/tuned/nvidia-h100-80gb-hbm3.json",
                                     "configs/tuned_prefill/nvidia-h100-80gb-hbm3.json"});
  EXPECT_TRUE(table.skipped.empty());
  const std::vector<LeftOut> left_out = leave_one_out(table, rules_);
  const RegretSummary summary = summarize_regrets(left_out, ChoiceStep::predicted);
  const RegretSummary with_many_tiles =
      summarize_regrets(filtered(left_out, [&](const LeftOut& left) {
        const Problem& problem = table.problems[left.row].problem;
        return problem.batch * problem.heads * problem.seq_len > 10000;
      }));
  EXPECT_GT(with_many_tiles.known.problems, 7 * with_many_tiles.problems / 10);
  EXPECT_LT(with_many_tiles.known.median_percent.value_or(100.0), 0.1);
  EXPECT_LT(with_many_tiles.known.worst_percent.value_or(100.0), 7.0);
  EXPECT_EQ(summary.problems, table.problems.size());
  EXPECT_GT(summary.known.problems, summary.problems / 2);
  EXPECT_LT(summary.known.median_percent.value_or(100.0), 0.5);
  EXPECT_LT(summary.known.worst_percent.value_or(100.0), 35.0);
  EXPECT_GT(summary.tried.problems, 9 * summary.problems / 10);
  EXPECT_LT(summary.tried.median_percent.value_or(100.0), 0.1);
  EXPECT_LT(summary.tried.worst_percent.value_or(100.0), 9.0);
}

TEST_F(ShippedTable, AnH200ChoosesByAnH100WhatOnlyThatWasTunedFor) {
  const TunedTable table = table_of(
      {"configs/tuned/nvidia-h200.json", "configs/tuned_prefill/nvidia-h100-80gb-hbm3.json"});
  const DeviceLimits& h100 = table.gpus.begin()->second;
  const DeviceLimits& h200 = table.gpus.rbegin()->second;
  Problem problem{16, 3000, 16, 128, DType::bf16, false};
  EXPECT_EQ(choose_tuned(table, problem, h200, rules_).predicted_by, model_of(h200));
  problem.kv_heads = 4;
  const TunedChoice grouped = choose_tuned(table, problem, h200, rules_);
  EXPECT_EQ(grouped.predicted_by, model_of(h100));
  EXPECT_EQ(grouped.short_form, choose_tuned(table, problem, h100, rules_).short_form);
  const Prediction prediction =
      predict(table,
              leave_one_out(table, rules_,
                            [&](const TunedProblem& row) { return row.gpu == model_of(h200); }),
              problem, h200, rules_);
  EXPECT_EQ(prediction.choice.untuned, "");
  EXPECT_FALSE(prediction.expected.regret.typical_percent) << "of an H100's times";
}

TEST_F(ShippedTable, ForLengthsOfKeysDecodingIsPredicted) {
  const TunedTable table = table_of({"configs/tuned_decode/nvidia-h100-80gb-hbm3.json"});
  Problem problem{64, 1, 32, 128, DType::bf16, false};
  problem.seq_len_kv = 32768;
  problem.kv_heads = 8;
  const DeviceLimits& h100 = table.gpus.begin()->second;
  const TunedChoice full = choose_tuned(table, problem, h100, rules_);
  ASSERT_EQ(full.step, ChoiceStep::exact);
  const TunedChoice shorter = choose_tuned(table, with_unknown_kv_lengths(problem), h100, rules_);
  EXPECT_EQ(shorter.step, ChoiceStep::predicted);
  EXPECT_NEAR(*shorter.predicted_us, 0.5 * table.problems[*full.row].times.front().time_us,
              0.1 * *shorter.predicted_us)
      << "sequences have half of the keys in the mean";
}

TEST_F(ShippedTable, HasSmallRegretsForDecoding) {
  const TunedTable table = table_of({"configs/tuned_decode/nvidia-h100-80gb-hbm3.json"});
  EXPECT_TRUE(table.skipped.empty());
  const std::vector<LeftOut> left_out = leave_one_out(table, rules_);
  const RegretSummary summary = summarize_regrets(left_out, ChoiceStep::predicted);
  EXPECT_EQ(summary.problems, table.problems.size());
  EXPECT_GT(summary.known.problems, 2 * summary.problems / 5);
  EXPECT_LT(summary.known.median_percent.value_or(100.0), 0.9);
  EXPECT_LT(summary.known.worst_percent.value_or(100.0), 20.0);
  EXPECT_GT(summary.tried.problems, 8 * summary.problems / 10);
  EXPECT_LT(summary.tried.median_percent.value_or(100.0), 0.1);
  EXPECT_LT(summary.tried.worst_percent.value_or(100.0), 16.0);
  const auto is_large = [](std::optional<double> percent) { return percent.value_or(0.0) > 6.0; };
  EXPECT_LE(std::ranges::count_if(left_out, is_large, &LeftOut::regret_percent), 9);
  EXPECT_LE(std::ranges::count_if(left_out, is_large, &LeftOut::tried_regret_percent), 3);
}

TEST_F(ShippedTable, FitsConfigurationsTogetherThatDifferInPartsAlone) {
  const TunedTable table = table_of({"configs/tuned_decode/nvidia-h100-80gb-hbm3.json"});
  const Family& family = *families_.find("flash_decode");
  const auto without_parts = [&](Config config) {
    for (const char* name : {"dtype", "PART_KEYS", "SHARE_SUMS"}) {
      config.values.at(*find_parameter(family, name)) = 0;
    }
    return config;
  };
  std::set<Config> configs;
  std::map<std::size_t, Config> like;
  for (const TunedProblem& row : table.problems) {
    for (const KnownTime& known : *row.known) {
      if (known.config.family == family.name) {
        configs.insert(known.config);
        const auto same = like.try_emplace(known.like, without_parts(known.config)).first;
        EXPECT_EQ(same->second, without_parts(known.config));
      }
    }
  }
  EXPECT_LT(5 * like.size(), configs.size());
}

TEST_F(ShippedTable, SaysHowLongLosersTakeAtLeast) {
  const auto least_us = [](const TunedProblem& row) {
    const auto lost = std::ranges::find(*row.known, true, &KnownTime::at_least);
    return lost == row.known->end() ? 0.0 : lost->us;
  };
  // Of a race of all, five configurations are listed.
  std::ptrdiff_t slower_than_listed = 0;
  for (const TunedProblem& row : table_.problems) {
    slower_than_listed += least_us(row) == row.times.back().time_us ? 1 : 0;
  }
  EXPECT_GT(slower_than_listed, 50);
  // A search raced few of most problems' configurations: nothing is known of the others.
  const TunedTable decode = table_of({"configs/tuned_decode/nvidia-h100-80gb-hbm3.json"});
  std::size_t unknown = 0;
  for (const TunedProblem& row : decode.problems) {
    unknown += least_us(row) == 0.0 ? 1U : 0U;
  }
  EXPECT_GT(unknown, decode.problems.size() / 2);
}

}  // namespace
}  // namespace fatune
