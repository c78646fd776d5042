#include "engine/choice/plan_problems.hpp"

#include <gmock/gmock.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/ranges.hpp"
#include "unit/engine/toy_kernels.hpp"

namespace fatune {
namespace {

class PlanProblems : public testing::Test {
 protected:
  [[nodiscard]] std::vector<FamilyPlan> plans() const { return {{&kernels_.family(), plan_}}; }
  [[nodiscard]] std::vector<ProblemPlan> plan(const ProblemOptions& options) const {
    return plan_problems(plans(), options);
  }

  const KernelSet kernels_ = toy_kernels();
  const Plan plan_{{toy_config(kernels_, "(FP16, 64, 32): unroll_1"),
                    toy_config(kernels_, "(FP16, 64, 64): unroll_1"),
                    toy_config(kernels_, "(BF16, 128, 32): unroll_1")},
                   {{toy_config(kernels_, "(FP16, 64, 32): unroll_2"), Pruned{"r", "why"}},
                    {toy_config(kernels_, "(BF16, 64, 32): unroll_2"), Invalid{"r", "why"}}}};
};

TEST_F(PlanProblems, OnePerLengthForEachDTypeAndHeadDimensionThatIsKept) {
  ProblemOptions options;
  options.seq_lens = {512, 8192};
  const auto problems = plan(options);
  ASSERT_EQ(problems.size(), 4U);
  EXPECT_EQ(problems[0].problem, (Problem{16, 512, 16, 64, DType::fp16, false}));
  EXPECT_EQ(problems[0].configs.size(), 2U);
  EXPECT_EQ(problems[0].pruned, 1);
  EXPECT_EQ(problems[0].invalid, 0);
  EXPECT_EQ(problems[1].problem.batch, 8);
  EXPECT_EQ(problems[2].problem, (Problem{16, 512, 16, 128, DType::bf16, false}));
  EXPECT_EQ(problems[2].configs.size(), 1U);
}

TEST_F(PlanProblems, TheDefaultLengthsWhenNoneIsGiven) {
  std::vector<std::int64_t> seq_lens;
  for (const ProblemPlan& problem : plan({})) {
    seq_lens.push_back(problem.problem.seq_len);
  }
  EXPECT_THAT(seq_lens, testing::ElementsAre(512, 1024, 2048, 4096, 512, 1024, 2048, 4096));
}

TEST_F(PlanProblems, BatchHeadsAndCausalAreTheOptions) {
  ProblemOptions options;
  options.seq_lens = {100};
  options.batch = 3;
  options.heads = 5;
  options.causal = true;
  EXPECT_EQ(plan(options)[0].problem, (Problem{3, 100, 5, 64, DType::fp16, true}));
}

TEST(PlanProblemsOfHopper, VHasTheHeadDimensionThatGoesWithTheConfiguration) {
  KernelOptions hopper;
  hopper.family = "flash_sm90";
  const KernelSet kernels = choose_kernels(hopper);
  const Family& family = kernels.family();
  const Plan plan{{toy_config(kernels, "(ws, FP16, 96, 64, 32, 2, 4, 1): slots_1+cluster_1"),
                   toy_config(kernels, "(ws, FP16, 192, 64, 32, 2, 4, 1): slots_1+cluster_1")},
                  {}};
  ProblemOptions options;
  options.seq_lens = {100};
  const auto d_heads_v = [&] {
    return mapped(plan_problems({{&family, plan}}, options),
                  [](const ProblemPlan& one) { return one.problem.d_head_v; });
  };
  EXPECT_THAT(d_heads_v(), testing::ElementsAre(96, 128));
  options.d_heads = {96, 192};
  EXPECT_THAT(d_heads_v(), testing::ElementsAre(96, 192)) << "an option names d_head";
  options.d_heads = {};
  const ProblemDetail& of_v = find_detail("d_head_v");
  options.details[&of_v] = held_value(of_v, 64.0);
  EXPECT_THAT(d_heads_v(), testing::ElementsAre(64, 64));
}

TEST_F(PlanProblems, ExtentsOutOfRangeAreErrors) {
  ProblemOptions options;
  options.seq_lens = {100};
  options.heads = 70000;
  EXPECT_THROW((void)plan(options), Error);
}

TEST_F(PlanProblems, CountWhatEachRuleDropped) {
  ProblemOptions options;
  options.seq_lens = {512};
  const auto problems = plan(options);
  EXPECT_THAT(problems[0].pruned_by_rule, testing::ElementsAre(std::pair("r", 1)));
  EXPECT_THAT(problems[1].pruned_by_rule, testing::IsEmpty());
}

// --- Rules that depend on the problem ---

class PruneProblems : public PlanProblems {
 protected:
  /// Plans two lengths in a space whose rule requires the sequence to fill a block.
  [[nodiscard]] std::vector<ProblemPlan> pruned() const {
    ProblemOptions options;
    options.seq_lens = {40, 512};
    auto problems = plan_problems(plans(), options);
    prune_problems(plans(), kLimits, problems);
    return problems;
  }
  [[nodiscard]] std::vector<FamilyPlan> plans() const {
    const SymbolTable& symbols = kernels_.family().symbols;
    Plan plan = plan_;
    plan.waiting = {{plan.kept,
                     {{"rows-filled",
                       Expression("BLOCK_ROWS > seq_len", symbols, "f"),
                       {"f", {{std::nullopt, Reason("{BLOCK_ROWS} rows", symbols, "f")}}}}}}};
    return {{&kernels_.family(), plan}};
  }

  const DeviceLimits kLimits;
};

TEST_F(PruneProblems, DropWhereTheProblemSaysSo) {
  const auto problems = pruned();
  EXPECT_EQ(problems[0].configs.size(), 1U);
  ASSERT_EQ(problems[0].pruned_here.size(), 1U);
  EXPECT_EQ(problems[0].pruned_here[0].config, plan_.kept[1]);
  EXPECT_EQ(problems[0].pruned_here[0].why.reason, "64 rows");
  EXPECT_EQ(problems[0].pruned, 2);
  EXPECT_THAT(problems[0].pruned_by_rule,
              testing::ElementsAre(std::pair("r", 1), std::pair("rows-filled", 1)));
  EXPECT_EQ(problems[1].configs.size(), 2U);
  EXPECT_THAT(problems[1].pruned_here, testing::IsEmpty());
}

TEST_F(PruneProblems, AnAuditTriesThemToo) {
  auto problems = pruned();
  choose_audited(plans(), {0, true}, {}, 1, problems);
  ASSERT_EQ(problems[0].audited.size(), 2U);
  EXPECT_EQ(problems[0].audited[1].rule, "rows-filled");
  EXPECT_THAT(problems[0].pruned_here, testing::IsEmpty());
  EXPECT_EQ(problems[0].pruned, 2);
}

// --- Audits ---

class ChooseAudited : public testing::Test {
 protected:
  ChooseAudited() {
    drop("(FP16, 64, 32): unroll_1", "a");
    drop("(FP16, 64, 32): unroll_2", "a");
    drop("(FP16, 64, 64): unroll_1", "a");
    drop("(FP16, 64, 64): unroll_2", "b");
    drop("(BF16, 64, 64): unroll_2", "c");
    plan_.dropped.push_back({{"toy_attention", {5, 64, 48, 1}}, Pruned{"b", "cannot be built"}});
    plan_.dropped.push_back({config("(FP16, 64, 32): unroll_1"), Invalid{"v", "by the family"}});
  }

  [[nodiscard]] Config config(const char* text) const { return toy_config(kernels_, text); }
  void drop(const char* text, const char* rule) {
    plan_.dropped.push_back({config(text), Pruned{rule, "why"}});
  }
  /// Chooses for a problem with FP16 and a head dimension of 64.
  [[nodiscard]] std::vector<AuditedConfig> choose(const AuditOptions& audit,
                                                  std::uint64_t seed = 1) const {
    std::vector<ProblemPlan> problems(1);
    problems[0].problem = {1, 512, 1, 64, DType::fp16, false};
    choose_audited({{&kernels_.family(), plan_}}, audit, {}, seed, problems);
    return problems[0].audited;
  }
  static std::vector<std::string> rules(const std::vector<AuditedConfig>& audited) {
    std::vector<std::string> rules;
    for (const AuditedConfig& one : audited) {
      rules.push_back(one.rule);
    }
    return rules;
  }

  const KernelSet kernels_ = toy_kernels();
  Plan plan_;
};

TEST_F(ChooseAudited, NoneUnlessAskedFor) { EXPECT_THAT(choose({}), testing::IsEmpty()); }

TEST_F(ChooseAudited, EachRuleHasItsTurn) {
  EXPECT_THAT(rules(choose({1, false})), testing::ElementsAre("a"));
  EXPECT_THAT(rules(choose({2, false})), testing::ElementsAre("a", "b"));
  EXPECT_THAT(rules(choose({3, false})), testing::ElementsAre("a", "b", "a"));
}

TEST_F(ChooseAudited, OnlyWhatTheFamilyCanBuildForThisProblem) {
  for (const AuditOptions& audit : {AuditOptions{100, false}, AuditOptions{0, true}}) {
    const auto audited = choose(audit);
    EXPECT_THAT(rules(audited), testing::UnorderedElementsAre("a", "a", "a", "b"));
    for (const AuditedConfig& one : audited) {
      EXPECT_EQ(one.config.values.at(0), 5);
      EXPECT_NE(one.config.values.at(2), 48);
    }
  }
}

TEST_F(ChooseAudited, TheSeedChoosesAmongThoseOfARule) {
  EXPECT_EQ(choose({1, false}, 7)[0].config, choose({1, false}, 7)[0].config);
  const Config first = choose({1, false}, 1)[0].config;
  bool differs = false;
  for (std::uint64_t seed = 2; seed < 30; ++seed) {
    differs = differs || !(choose({1, false}, seed)[0].config == first);
  }
  EXPECT_TRUE(differs);
}

TEST_F(PlanProblems, AnEarlierProblemIsAskedForWhenItHasWhatTheOptionsSay) {
  Problem problem{16, 512, 16, 64, DType::fp16, true};
  problem.softmax_scale = 0.1F;
  ProblemOptions options;
  EXPECT_TRUE(is_asked_for(problem, options));
  options.heads = 16;
  options.causal = true;
  const ProblemDetail& scale = find_detail("softmax_scale");
  options.details[&scale] = held_value(scale, 0.1);
  EXPECT_TRUE(is_asked_for(problem, options));
  options.causal = false;
  EXPECT_FALSE(is_asked_for(problem, options));
  options.causal = {};
  options.heads = 8;
  EXPECT_FALSE(is_asked_for(problem, options));
}

}  // namespace
}  // namespace fatune
