#include "plan/planner.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <set>

#include "plan/config_text.hpp"
#include "unit/base/temp_folder.hpp"
#include "unit/plan/plan_fixtures.hpp"

namespace fatune {
namespace {

using fixtures::flash;
using fixtures::flash_config;
using ::testing::ElementsAreArray;

Plan plan_of(const std::string& space, const Binding& binding = {}) {
  return make_plan(flash(), load_space(FileTree{}, flash(), space), binding);
}

/// Lines "kept <short form>" and "<rule> <short form>", as in the golden files.
std::vector<std::string> lines(const Plan& plan) {
  std::vector<std::string> found;
  for (const Config& config : plan.kept) {
    found.push_back("kept " + short_form(flash(), config));
  }
  for (const DroppedConfig& dropped : plan.dropped) {
    const auto* pruned = std::get_if<Pruned>(&dropped.outcome);
    found.push_back((pruned != nullptr ? pruned->rule : std::get<Invalid>(dropped.outcome).rule) +
                    " " + short_form(flash(), dropped.config));
  }
  return found;
}

std::map<std::string, int> count_rules(const Plan& plan) {
  std::map<std::string, int> counts;
  for (const DroppedConfig& dropped : plan.dropped) {
    ++counts[std::get<Pruned>(dropped.outcome).rule];
  }
  return counts;
}

TEST(Plan, TuneKeepsEightyInOrderOfTheirValues) {
  EXPECT_THAT(lines(plan_of("tune")), ElementsAreArray(fixtures::golden_lines("list_tune.txt")));
}

TEST(Plan, ProgallKeepsFiftySix) {
  EXPECT_THAT(lines(plan_of("progall")),
              ElementsAreArray(fixtures::golden_lines("list_progall.txt")));
}

TEST(Plan, TheRulesOfTuneDrop176Of256) {
  const Plan plan = plan_of("tune");
  EXPECT_EQ(plan.kept.size(), 80U);
  EXPECT_EQ(plan.dropped.size(), 176U);
  EXPECT_EQ(count_rules(plan), (std::map<std::string, int>{{"qk-tiles-equal", 64},
                                                           {"br64-bc32-q-in-registers", 32},
                                                           {"br64-bc64-q-tiled", 16},
                                                           {"br128-q-in-registers", 64}}));
}

TEST(Plan, TheRulesOfTuneKeepTheirOrder) {
  std::vector<std::string> ids;
  const Space tune = load_space(FileTree{}, flash(), "tune");
  for (const SpaceRule& rule : tune.parts.at(0).rules) {
    ids.push_back(rule.id);
  }
  EXPECT_THAT(ids, ::testing::ElementsAre("eager-needs-async", "qk-tiles-equal", "br64-no-8-warps",
                                          "br64-bc32-q-in-registers", "br64-bc64-q-tiled",
                                          "br128-q-in-registers"));
}

TEST(Plan, EveryRuleOfTuneCanDrop) {
  const SpacePart part = load_space(FileTree{}, flash(), "tune").parts.at(0);
  const std::vector<std::string> examples{"(FP16, 128, 64, 64, 4): eager+load_0_0_0_tiles",
                                          "(FP16, 128, 64, 64, 4): async+load_2_0_0_tiles",
                                          "(FP16, 128, 64, 64, 8): async+load_0_0_0_tiles",
                                          "(FP16, 128, 64, 32, 4): async+load_0_0_0_tiles",
                                          "(FP16, 128, 64, 64, 4): async+load_2_2_0_tiles",
                                          "(FP16, 128, 128, 64, 4): async+load_0_0_0_tiles"};
  for (std::size_t i = 0; i < examples.size(); ++i) {
    const Space space{"s", "", {{{flash_config(examples[i])}, part.rules}}};
    const Plan plan = make_plan(flash(), space);
    ASSERT_EQ(plan.dropped.size(), 1U) << examples[i];
    EXPECT_EQ(std::get<Pruned>(plan.dropped[0].outcome).rule, part.rules[i].id);
  }
}

TEST(Plan, AReasonShowsTheValues) {
  const Plan plan = plan_of("tune");
  EXPECT_EQ(std::get<Pruned>(plan.dropped.front().outcome).reason,
            "Q in registers goes over the register threshold for three blocks per SM");
  EXPECT_EQ(outcome_summary(plan_of("progall").dropped.back().outcome),
            "8-warps-need-br128: 64 query rows are too few for 8 warps");
}

TEST(Plan, AllIsTheUnionWithoutDuplicates) {
  std::set<Config> both;
  for (const char* space : {"tune", "progall"}) {
    const Plan plan = plan_of(space);
    both.insert(plan.kept.begin(), plan.kept.end());
  }
  const Plan all = plan_of("all");
  EXPECT_THAT(all.kept, ElementsAreArray(both));
  for (const DroppedConfig& dropped : all.dropped) {
    EXPECT_FALSE(both.contains(dropped.config));
  }
}

TEST(Plan, EverythingKeptIsValid) {
  for (const char* space : {"tune", "prog", "progall", "all", "64,32", "128,64"}) {
    const Plan plan = plan_of(space);
    EXPECT_FALSE(plan.kept.empty());
    for (const Config& config : plan.kept) {
      EXPECT_FALSE(check_valid(flash(), config));
    }
  }
}

std::int64_t count_besides(const Plan& plan, const std::string& rule) {
  std::int64_t count = 0;
  for (const DropCount& more : plan.dropped_besides) {
    count += more.rule == rule ? more.count : 0;
  }
  return count;
}

TEST(Plan, OfALargeSpaceIsARandomSampleAndCountsTheRest) {
  const Plan all = plan_of("tune");
  const Plan some = make_plan(flash(), load_space(FileTree{}, flash(), "tune"), {}, 30);
  ASSERT_EQ(some.kept.size(), 30U);
  EXPECT_EQ(some.kept_besides, 50);
  EXPECT_TRUE(std::ranges::is_sorted(some.kept));
  EXPECT_TRUE(std::ranges::includes(all.kept, some.kept));
  EXPECT_NE(some.kept, std::vector<Config>(all.kept.begin(), all.kept.begin() + 30));
  ASSERT_EQ(some.dropped.size(), 30U);
  std::map<std::string, int> listed = count_rules(some);
  for (const auto& [rule, count] : count_rules(all)) {
    EXPECT_EQ(listed[rule] + count_besides(some, rule), count) << rule;
  }
}

TEST(Plan, CountsWhatItDoesNotListForEachProblem) {
  const Plan some = make_plan(flash(), load_space(FileTree{}, flash(), "tune"), {}, 0);
  std::map<ParamValue, std::int64_t> by_dtype;
  for (const DropCount& more : some.dropped_besides) {
    EXPECT_TRUE(more.pruned);
    by_dtype[more.example.values[0]] += more.count;
  }
  EXPECT_EQ(by_dtype, (std::map<ParamValue, std::int64_t>{{5, 88}, {15, 88}}));
}

// --- Rules that wait for a problem and a device ---

class WaitingRules : public testing::Test {
 protected:
  [[nodiscard]] static SpaceRule rule(const char* id, const char* drops) {
    return {id,
            Expression(drops, flash().symbols, "f"),
            {"f", {{std::nullopt, Reason("{B_c} of {seq_len}", flash().symbols, "f")}}}};
  }
  [[nodiscard]] std::optional<Pruned> prune(const Plan& plan, const Config& config,
                                            std::int64_t seq_len) const {
    const Problem problem{1, seq_len, 1, 128, DType::fp16};
    return prune_on({flash(), config, problem, fixtures::h200()}, plan);
  }

  const Config small_ = flash_config("(FP16, 128, 64, 32, 4): async+load_0_0_0_tiles");
  const Config large_ = flash_config("(FP16, 128, 64, 64, 4): async+load_0_0_0_tiles");
  const SpaceRule long_keys_ = rule("long-keys", "B_c > seq_len && sm_count == 132");
};

TEST_F(WaitingRules, AreTriedOnTheProblem) {
  const Plan plan = make_plan(flash(), {"s", "", {{{small_, large_}, {long_keys_}}}});
  EXPECT_THAT(plan.kept, ::testing::ElementsAre(small_, large_));
  EXPECT_FALSE(prune(plan, small_, 40));
  EXPECT_FALSE(prune(plan, large_, 64));
  const auto pruned = prune(plan, large_, 40);
  ASSERT_TRUE(pruned);
  EXPECT_EQ(pruned->rule, "long-keys");
  EXPECT_EQ(pruned->reason, "64 of 40");
}

TEST_F(WaitingRules, TheFirstThatMatchesIsNamedAndTheOthersAreTriedBefore) {
  const SpaceRule at_once{"at-once",
                          Expression("B_c == 64", flash().symbols, "f"),
                          {"f", {{std::nullopt, Reason("x", flash().symbols, "f")}}}};
  const Plan plan = make_plan(
      flash(), {"s", "", {{{small_, large_}, {rule("always", "1"), long_keys_, at_once}}}});
  EXPECT_THAT(plan.kept, ::testing::ElementsAre(small_));
  EXPECT_EQ(std::get<Pruned>(plan.dropped.at(0).outcome).rule, "at-once");
  EXPECT_EQ(prune(plan, small_, 10)->rule, "always");
}

TEST_F(WaitingRules, WhatAnotherPartKeepsIsKept) {
  const Plan plan =
      make_plan(flash(), {"s", "", {{{small_, large_}, {long_keys_}}, {{large_}, {}}}});
  EXPECT_FALSE(prune(plan, large_, 10));
  EXPECT_TRUE(prune(plan, small_, 10));
  EXPECT_THAT(plan_of("tune").waiting, ::testing::IsEmpty());
}

TEST(Binding, ADtypeThatTheSpaceHasIsAFilter) {
  const Plan plan = plan_of("tune", {{DType::bf16}, {}});
  EXPECT_EQ(plan.kept.size(), 40U);
  EXPECT_EQ(plan.dropped.size(), 88U);
  for (const Config& config : plan.kept) {
    EXPECT_EQ(config.values[0], 15);
  }
}

TEST(Binding, AValueThatTheSpaceLacksIsPutIn) {
  const Plan plan = plan_of("prog", {{DType::bf16}, {64}});
  ASSERT_EQ(plan.kept.size(), 7U);
  for (const Config& config : plan.kept) {
    EXPECT_EQ(config.values[0], 15);
    EXPECT_EQ(config.values[1], 64);
  }
}

TEST(Binding, SeveralValuesGiveTheUnion) {
  EXPECT_EQ(plan_of("prog", {{DType::fp16, DType::bf16}, {64, 128}}).kept.size(), 28U);
  EXPECT_EQ(plan_of("tune", {{DType::fp16, DType::bf16}, {128}}).kept, plan_of("tune").kept);
  EXPECT_EQ(plan_of("tune", {{DType::fp16, DType::fp16}, {}}).kept.size(), 40U);
}

TEST(Binding, EachPartOfASpaceIsBoundByItself) {
  // tune has BF16 itself. progall does not, and is re-bound.
  const Plan plan = plan_of("all", {{DType::bf16}, {}});
  EXPECT_EQ(plan.kept.size(), 85U);
}

TEST(Binding, AHeadDimensionTheKernelLacksMakesAllInvalid) {
  const Plan plan = plan_of("tune", {{}, {80}});
  EXPECT_TRUE(plan.kept.empty());
  ASSERT_EQ(plan.dropped.size(), 256U);
  EXPECT_EQ(outcome_summary(plan.dropped[0].outcome),
            "understood-values: d_head is 80; flash_sm80 understands 64, 96, 128, 256");
}

// --- The usual head dimension of V ---

TEST(UsualHeadDimV, IsThatOfTheConfigurationWhereTheFamilyDeclaresOne) {
  const Family hopper = load_family(FileTree{}, "flash_sm90");
  const auto usual = [&](const char* d_head) {
    return usual_d_head_v(hopper,
                          parse_config(hopper, fmt::format("(ws, FP16, {}, 64, 32, 2, 4, 1): "
                                                           "slots_1+cluster_1",
                                                           d_head)));
  };
  EXPECT_EQ(usual("96"), 96);
  EXPECT_EQ(usual("192"), 128);
  EXPECT_EQ(usual_d_head_v(flash(), flash_config("(FP16, 96, 64, 64, 4): load_2_2_2_tiles")),
            std::nullopt);
}

TEST(UsualHeadDimV, MustBeAHeadDimension) {
  nlohmann::json changed = fixtures::toy_json();
  changed["usual_d_head_v"] = "d_head - 64";
  const Family toy = fixtures::load_changed(changed);
  EXPECT_EQ(usual_d_head_v(toy, parse_config(toy, "(FP16, 128, 32): unroll_1")), 64);
  fixtures::expect_error(
      [&] { (void)usual_d_head_v(toy, parse_config(toy, "(FP16, 64, 32): unroll_1")); },
      ExitCode::bad_file, {"family.json: /usual_d_head_v", "\"d_head - 64\" gives 0"});
}

std::string why_invalid(const std::string& config) {
  const auto invalid = check_valid(flash(), flash_config(config));
  return invalid ? invalid->rule + ": " + invalid->reason : "";
}

TEST(Validity, EveryRuleSaysWhy) {
  EXPECT_EQ(why_invalid("(FP16, 128, 64, 64, 4): async+load_0_2_2_tiles"), "");
  EXPECT_EQ(why_invalid("(FP16, 128, 96, 64, 4): load_0_0_0_tiles"),
            "understood-values: B_r is 96; flash_sm80 understands 64, 128, 256");
  EXPECT_EQ(
      why_invalid("(FP16, 96, 64, 64, 4): load_8_8_2_tiles"),
      "qk-load-divides: loads of 8 k-tiles, of 8 columns each, do not divide the 96 columns of "
      "Q and K");
  EXPECT_EQ(
      why_invalid("(FP16, 256, 128, 64, 4): load_2_2_2_tiles"),
      "accumulators-fit: the accumulators of S and O alone need 320 registers per thread; 255 "
      "exist: take more warps, or a smaller B_r or B_c");
  EXPECT_EQ(why_invalid("(FP16, 128, 64, 64, 4): load_1_1_0_tiles"),
            "understood-values: Q_mma_load_K_tiles is 1; flash_sm80 understands 0, 2, 4, 8, 16");
  EXPECT_EQ(why_invalid("(FP16, 128, 64, 64, 8): load_0_0_0_tiles"),
            "eight-warps-need-128-rows: 8 warps need B_r of at least 128; it is 64");
  EXPECT_THAT(why_invalid("(FP16, 128, 64, 64, 4): load_2_4_0_tiles"),
              ::testing::StartsWith(
                  "qk-in-step: Q and K are consumed in step: a load brings 2 k-tiles of Q"));
  EXPECT_THAT(why_invalid("(FP16, 64, 64, 64, 4): load_16_16_0_tiles"),
              ::testing::StartsWith("qk-load-limit: a load of Q or K brings at most 8 k-tiles"));
  EXPECT_EQ(why_invalid("(FP16, 64, 64, 64, 4): load_8_8_0_tiles"), "");
  EXPECT_THAT(why_invalid("(FP16, 64, 64, 64, 4): load_8_8_0_tiles+buffer"),
              ::testing::StartsWith("qk-load-limit: a load of Q or K brings at most 4 k-tiles"));
  EXPECT_EQ(why_invalid("(FP16, 64, 64, 32, 4): load_0_0_4_tiles"), "");
  EXPECT_THAT(why_invalid("(FP16, 64, 64, 32, 4): load_0_0_4_tiles+buffer"),
              ::testing::StartsWith("v-load-limit: a load of V brings at most 2 k-tiles"));
  EXPECT_THAT(why_invalid("(FP16, 128, 256, 64, 4): load_2_2_2_tiles"),
              ::testing::HasSubstr("need 384 registers per thread; 255 exist"));
}

TEST(Validity, RowsPerWarpAreWholeMmaTiles) {
  const std::vector<ValidityRule>& rules = flash().validity;
  const auto rule = std::find_if(rules.begin(), rules.end(),
                                 [](const ValidityRule& r) { return r.id == "rows-per-warp"; });
  ASSERT_NE(rule, rules.end());
  std::vector<double> scope(flash().symbols.size(), 0.0);
  const std::size_t rows = flash().symbols.find("rows_per_warp").value();
  for (const auto& [value, holds] : std::map<double, bool>{{16, true}, {24, false}, {64, true}}) {
    scope[rows] = value;
    EXPECT_EQ(rule->must_hold.holds(scope), holds);
  }
}

TEST(Validity, BoundParametersRepeatTheProblem) {
  const Config config = flash_config("(FP16, 128, 64, 64, 4): async+load_0_2_2_tiles");
  const Problem same{1, 64, 1, 128, DType::fp16};
  EXPECT_FALSE(check_valid(flash(), config, &same));
  const Problem other{1, 64, 1, 128, DType::bf16};
  EXPECT_EQ(check_valid(flash(), config, &other)->reason,
            "dtype is FP16 in the configuration, but BF16 in the problem");
  const Problem narrow{1, 64, 1, 64, DType::fp16};
  EXPECT_EQ(check_valid(flash(), config, &narrow)->reason,
            "d_head is 128 in the configuration, but 64 in the problem");
}

TEST(Validity, AConfigurationOfAnotherFamilyIsSaidToBe) {
  EXPECT_EQ(check_valid(flash(), Config{"other", {5}})->rule, "other-family");
  EXPECT_EQ(check_valid(flash(), Config{"flash_sm80", {5}})->rule, "other-family");
}

TEST(Validity, RulesThatNeedAProblemWaitForIt) {
  nlohmann::json changed = fixtures::toy_json();
  changed["validity"] = {
      {{"id", "short"}, {"must_hold", "seq_len <= 100"}, {"reason", "{seq_len}"}},
      {{"id", "wide"}, {"must_hold", "sm_count > 200"}, {"reason", "{sm_count}"}}};
  const Family family = fixtures::load_changed(changed);
  const Config config{"toy_attention", {5, 128, 32, 1}};
  const Problem problem{1, 101, 1, 128, DType::fp16};
  const Problem small{1, 100, 1, 128, DType::fp16};
  EXPECT_FALSE(check_valid(family, config));
  EXPECT_EQ(check_valid(family, config, &problem)->reason, "101");
  EXPECT_FALSE(check_valid(family, config, &small));
  EXPECT_EQ(check_valid(family, config, &small, &fixtures::h200())->reason, "132");
}

}  // namespace
}  // namespace fatune
