// The choice for problems of few queries, among rows of flash_decode and the winners that fatune
// ships for more queries.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "base/json_file.hpp"
#include "choose/tuned_choice.hpp"
#include "choose/tuned_file.hpp"
#include "plan/planner.hpp"
#include "store/results_file.hpp"

namespace fatune {
namespace {

constexpr const char* kPrefill = "configs/tuned/nvidia-h100-80gb-hbm3.json";

Problem decoding(std::int64_t batch, std::int64_t queries, std::int64_t keys, std::int64_t heads,
                 std::int64_t kv_heads) {
  Problem problem{batch, queries, heads, 128, DType::bf16, false};
  problem.seq_len_kv = keys;
  problem.kv_heads = kv_heads;
  return problem;
}

ProblemReport ranked(const Problem& problem, const std::vector<std::string>& configs) {
  ProblemReport report;
  report.problem = problem;
  for (const std::string& config : configs) {
    Result& result = report.ranking.emplace_back();
    result.config.family = "flash_decode";
    result.short_form = "(BF16, 128, " + config;
    result.outcome =
        Measured{timing_of_median(10.0 + static_cast<double>(report.ranking.size())), {}};
  }
  return report;
}

class DecodeChoice : public testing::Test {
 protected:
  DecodeChoice() {
    RunReport prefill = read_results_text(tree_.read(kPrefill), kPrefill).front();
    RunReport decode;
    decode.device = prefill.device;
    decode.problems = {
        ranked(decoding(1, 1, 4096, 32, 8), {"8, 128, 2, 1): parts_256", "8, 64, 3, 1): parts_64"}),
        ranked(decoding(1, 8, 4096, 32, 8), {"32, 64, 2, 1): parts_256+shared_sums"}),
        ranked(decoding(64, 1, 4096, 32, 8), {"8, 64, 1, 3): parts_4096"})};
    const SourceHashes unknown{{"flash_decode", {}}, {"flash_sm80", {}}, {"flash_sm90", {}}};
    prefill.source_hashes.clear();
    for (const RunReport& run : {prefill, decode}) {
      add_tuned(run, "a run", {families_, unknown}, table_);
    }
    finish_table(table_);
  }

  [[nodiscard]] const DeviceLimits& h100() const { return table_.gpus.begin()->second; }
  [[nodiscard]] TunedChoice choose(const Problem& problem) const {
    return choose_tuned(table_, problem, h100(), rules_);
  }

  const FileTree tree_;
  const FamilySet families_{{load_family(tree_, "flash_decode"), load_family(tree_, "flash_sm80"),
                             load_family(tree_, "flash_sm90")}};
  const ConfigRules rules_ = families_say(families_);
  TunedTable table_;
};

TEST_F(DecodeChoice, IsThatOfARowWithAsMuchToReadForEachSm) {
  const TunedChoice choice = choose(decoding(2, 1, 3000, 32, 8));
  EXPECT_EQ(choice.step, ChoiceStep::neighbour_bucket);
  EXPECT_EQ(choice.short_form, "(BF16, 128, 8, 128, 2, 1): parts_256");
  const TunedChoice long_cache = choose(decoding(70, 1, 3500, 32, 8));
  EXPECT_EQ(long_cache.step, ChoiceStep::same_bucket);
  EXPECT_EQ(long_cache.short_form, "(BF16, 128, 8, 64, 1, 3): parts_4096");
}

TEST_F(DecodeChoice, PacksTheHeadsOfAGroup) {
  EXPECT_EQ(choose(decoding(1, 1, 4096, 64, 8)).step, ChoiceStep::same_bucket) << "8 rows";
  EXPECT_EQ(choose(decoding(1, 4, 4096, 64, 8)).step, ChoiceStep::same_bucket) << "32 rows";
  const TunedChoice of_sixteen = choose(decoding(1, 4, 4096, 32, 8));
  EXPECT_EQ(of_sixteen.step, ChoiceStep::neighbour_bucket);
  EXPECT_EQ(of_sixteen.short_form, "(BF16, 128, 32, 64, 2, 1): parts_256+shared_sums")
      << "tiles of 8 rows would read K and V twice";
}

TEST_F(DecodeChoice, DoesNotDependOnMasks) {
  Problem masked = decoding(1, 8, 4096, 32, 8);
  masked.causal = true;
  EXPECT_EQ(choose(masked).step, ChoiceStep::same_bucket);
  masked = decoding(1, 1, 100000, 32, 8);
  masked.window = 4096;
  EXPECT_EQ(choose(masked).step, ChoiceStep::same_bucket) << "4096 keys are seen";
  EXPECT_EQ(choose(masked).untuned, "");
}

TEST_F(DecodeChoice, IsTheNearestDecodingFarFromAllRows) {
  const TunedChoice choice = choose(decoding(1, 1, 131072, 32, 8));
  EXPECT_EQ(choice.step, ChoiceStep::nearest);
  EXPECT_EQ(choice.config.family, "flash_decode");
  EXPECT_NE(choice.untuned, "");
  const TunedChoice prefill = choose({16, 100, 16, 128, DType::bf16, false});
  EXPECT_EQ(prefill.step, ChoiceStep::nearest);
  EXPECT_EQ(prefill.config.family, "flash_sm90");
}

TEST_F(DecodeChoice, IsValidAndOfTheDecodingFamily) {
  std::mt19937 engine(5);
  const auto below = [&](std::int64_t end) {
    return std::uniform_int_distribution<std::int64_t>(0, end - 1)(engine);
  };
  for (int i = 0; i < 300; ++i) {
    const std::int64_t kv_heads = 1 << below(6);
    const Problem problem = decoding(1 + below(256), 1 + below(16), 128 + below(200000),
                                     kv_heads * (1 + below(16)), kv_heads);
    const TunedChoice choice = choose(problem);
    ASSERT_EQ(choice.config.family, "flash_decode") << describe(problem) << choice.refusal;
    const Family& family = families_.of(choice.config);
    EXPECT_FALSE(check_valid(family, choice.config, &problem, &table_.gpus.begin()->second));
    EXPECT_FALSE(check_limits({family, choice.config, problem, table_.gpus.begin()->second}));
  }
}

TEST_F(DecodeChoice, HasDefaultsOfItsOwn) {
  std::size_t few = 0;
  for (const DefaultConfig& known : table_.defaults) {
    EXPECT_EQ(known.few_queries, known.config.family == "flash_decode") << known.short_form;
    few += known.few_queries ? 1U : 0U;
  }
  EXPECT_EQ(few, 1U);
  const auto chosen_family = [&](Problem problem) {
    problem.d_head_v = 64;  // no row has it
    const auto anything = [](const Config&, const Problem&, const DeviceLimits&) {
      return std::optional<std::string>();
    };
    return choose_tuned(table_, problem, h100(), anything).config.family;
  };
  EXPECT_EQ(chosen_family({16, 512, 16, 128, DType::bf16, false}), "flash_sm90");
  EXPECT_EQ(chosen_family(decoding(1, 1, 4096, 32, 8)), "flash_decode");
}

/// The problems that scripts/tune_winners sweeps, of BF16 and d_head 128.
std::vector<Problem> swept_problems() {
  const JsonFile file = load_json(FileTree(), "configs/sweeps/decode.json", "sweeps");
  std::vector<Problem> problems;
  for (const auto& sweep : file.root().raw().at("sweeps")) {
    for (const std::int64_t queries : sweep.at("queries")) {
      problems.push_back(decoding(sweep.at("batch"), queries, sweep.at("keys"), sweep.at("heads"),
                                  sweep.at("kv_heads")));
    }
  }
  return problems;
}

TEST(DecodeSweeps, HaveANeighbourOfEachProblemInTheirRange) {
  RunReport run;
  run.device.name = "GPU";
  run.device.arch = {90, 'a'};
  run.device.sm_count = 132;
  for (const Problem& problem : swept_problems()) {
    run.problems.push_back(ranked(problem, {"8, 128, 2, 1): parts_256"}));
  }
  const FamilySet families{{load_family(FileTree(), "flash_decode")}};
  const SourceHashes unknown{{"flash_decode", {}}};
  TunedTable table;
  add_tuned(run, "a run", {families, unknown}, table);
  finish_table(table);
  std::mt19937 engine(6);
  const auto log_uniform = [&](double low, double high) {
    return std::llround(
        std::exp2(std::uniform_real_distribution<double>(std::log2(low), std::log2(high))(engine)));
  };
  const WhyNot anything = [](const Config&, const Problem&, const DeviceLimits&) {
    return std::optional<std::string>();
  };
  for (int i = 0; i < 1000; ++i) {
    const std::int64_t kv_heads = log_uniform(1, 16);
    const std::int64_t group = log_uniform(1, 16);
    const std::int64_t queries = log_uniform(1, 128.0 / static_cast<double>(group));
    Problem problem = decoding(log_uniform(1, 256), queries, log_uniform(512, 131072),
                               kv_heads * group, kv_heads);
    constexpr std::int64_t kMostBytes = 20'000'000'000;
    if (problem.batch * kv_heads * problem.seq_len_kv * 4 * problem.d_head > kMostBytes ||
        queries * 16 > problem.seq_len_kv || problem.batch * problem.heads * queries < 6) {
      continue;
    }
    EXPECT_EQ(choose_tuned(table, problem, run.device, anything).untuned, "") << describe(problem);
  }
}

}  // namespace
}  // namespace fatune
