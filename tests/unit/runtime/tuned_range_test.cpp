#include "runtime/choose.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace fatune_attention::detail {
namespace {

constexpr TunedGpu kGpus[] = {{"GPU A", 90, 125}, {"GPU B", 90, 60}, {"GPU C", 100, 125}};
constexpr RowConfig kConfigs[] = {{0, 10.0, 0.0}};

/// 16 heads of 1000 positions: 128 rows of queries for each SM of GPU A.
Problem tuned_problem(std::int64_t seq_len = 1000) {
  Problem problem;
  problem.dtype = DType::bf16;
  problem.batch = 1;
  problem.heads = problem.kv_heads = 16;
  problem.seq_len = problem.seq_len_kv = seq_len;
  problem.d_head = problem.d_head_v = 64;
  return problem;
}

/// A table with rows of 1000 and 2000 positions on GPU A, in which d_head 128 was tuned with a
/// mask.
class TunedRange : public testing::Test {
 protected:
  TunedRange() {
    add(tuned_problem());
    add(tuned_problem(2000));
    Problem other = tuned_problem();
    other.d_head = other.d_head_v = 128;
    other.causal = true;
    add(other);
  }

  void add(const Problem& problem) { rows_.push_back({0, problem, false, kConfigs, 1}); }

  std::string untuned_text(const Problem& problem, const TunedGpu& gpu = kGpus[0],
                           Step step = Step::same_bucket) const {
    const Table table{{}, {}, {kGpus, 3}, {rows_.data(), static_cast<int>(rows_.size())},
                      {}, {}, {}};
    const Untuned found = untuned(table, {problem, false}, gpu, step);
    EXPECT_EQ(static_cast<bool>(found), found.text[0] != '\0');
    EXPECT_EQ(std::string(found.text).rfind(found.property, 0), 0U)
        << "it begins with the property";
    return found.text;
  }

  std::vector<Row> rows_;
};

TEST_F(TunedRange, ReachesFromTheLeastToTheGreatestBucket) {
  EXPECT_EQ(untuned_text(tuned_problem()), "");
  EXPECT_EQ(untuned_text(tuned_problem(1500)), "");
  EXPECT_EQ(untuned_text(tuned_problem(725)), "");
  EXPECT_EQ(untuned_text(tuned_problem(724)), "queries: 724; tuned: 1000 to 2000");
  EXPECT_EQ(untuned_text(tuned_problem(2800)), "");
  EXPECT_EQ(untuned_text(tuned_problem(2897)), "queries: 2897; tuned: 1000 to 2000");
}

TEST_F(TunedRange, ComparesKeysAndTheirRatioToQueries) {
  Problem problem = tuned_problem(2000);
  problem.seq_len_kv = 4000;
  EXPECT_EQ(untuned_text(problem), "keys: 4000; tuned: 1000 to 2000");
  problem.seq_len_kv = 1000;
  EXPECT_EQ(untuned_text(problem), "keys / queries: 0.50; tuned: 1");
}

TEST_F(TunedRange, ComparesTheWorkOfEachSm) {
  Problem problem = tuned_problem();
  problem.batch = 3;
  EXPECT_EQ(untuned_text(problem), "batch x heads x queries / SMs: 384; tuned: 128 to 256");
  EXPECT_EQ(untuned_text(tuned_problem(), kGpus[1], Step::same_arch), "")
      << "267 rows of queries for each of 60 SMs";
}

TEST_F(TunedRange, ComparesTheHeadsThatShareKeys) {
  Problem problem = tuned_problem();
  problem.kv_heads = 8;
  EXPECT_EQ(untuned_text(problem), "heads / kv_heads: 2; tuned: 1");
}

TEST_F(TunedRange, IsThatOfTheProblemsKind) {
  Problem problem = tuned_problem();
  problem.dtype = DType::fp16;
  EXPECT_EQ(untuned_text(problem), "element type: FP16; tuned: BF16");
  problem = tuned_problem();
  problem.d_head = 96;
  EXPECT_EQ(untuned_text(problem), "d_head: 96; tuned: 64, 128");
  problem = tuned_problem();
  problem.d_head_v = 128;
  EXPECT_EQ(untuned_text(problem), "d_head_v: 128; tuned: 64") << "with this d_head";
  problem = tuned_problem();
  problem.causal = true;
  EXPECT_EQ(untuned_text(problem), "mask: causal; tuned: full") << "with this d_head";
  problem = tuned_problem();
  problem.window = 100;
  EXPECT_EQ(untuned_text(problem), "window: some; tuned: none");
  add(problem);
  EXPECT_EQ(untuned_text(problem), "");
  problem.window = 300;
  EXPECT_EQ(untuned_text(problem), "window: 300; tuned: 100");
}

TEST_F(TunedRange, IsThatOfTheArchitecture) {
  EXPECT_EQ(untuned_text(tuned_problem(), kGpus[2]),
            "GPU architecture: compute capability 10.0; nothing was tuned on it");
}

TEST_F(TunedRange, OfFewQueriesIsTheirOwn) {
  Problem decoding = tuned_problem(1);
  decoding.seq_len_kv = 1000;
  EXPECT_EQ(untuned_text(decoding), "queries: few for their keys; tuned: many for their keys");
  add(decoding);
  EXPECT_EQ(untuned_text(decoding), "");
  decoding.causal = true;
  EXPECT_EQ(untuned_text(decoding), "") << "a mask hides nothing from one query";
  decoding.seq_len_kv = 5000;
  EXPECT_EQ(untuned_text(decoding), "keys: 5000; tuned: 1000");
  decoding.window = 1000;
  EXPECT_EQ(untuned_text(decoding), "") << "a query sees as many keys as were tuned";
  decoding.heads = 64;
  EXPECT_EQ(untuned_text(decoding), "batch x heads x queries / SMs: 0.51; tuned: 0.13");
}

TEST_F(TunedRange, ExcludesDefaultsAndWhatIsNotNear) {
  EXPECT_NE(untuned_text(tuned_problem(), kGpus[0], Step::nearest), "");
  EXPECT_THAT(untuned_text(tuned_problem(), kGpus[0], Step::fallback),
              testing::HasSubstr("no configuration of a tuned problem near it is eligible"));
  Problem few_heads = tuned_problem(8000);
  few_heads.heads = few_heads.kv_heads = 1;
  add(few_heads);
  few_heads.heads = few_heads.kv_heads = 3;
  EXPECT_THAT(
      untuned_text(few_heads, kGpus[0], Step::fallback),
      testing::HasSubstr("each is in the tuned range, but no tuned problem is near in all"));
}

TEST_F(TunedRange, IsNotAskedOfTunedProblemsAndRefusals) {
  EXPECT_EQ(untuned_text(tuned_problem(7), kGpus[0], Step::exact), "");
  EXPECT_EQ(untuned_text(tuned_problem(7), kGpus[0], Step::refused), "");
}

}  // namespace
}  // namespace fatune_attention::detail
