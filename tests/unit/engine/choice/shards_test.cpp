#include "engine/choice/problems.hpp"

#include <gmock/gmock.h>

#include <cstdlib>
#include <map>
#include <set>

#include "base/error.hpp"
#include "plan/problem_plan.hpp"

namespace fatune {
namespace {

std::vector<ProblemPlan> some_problems() {
  std::vector<ProblemPlan> plans;
  for (const DType dtype : {DType::fp16, DType::bf16}) {
    for (const std::int64_t d_head : {64, 128}) {
      for (const std::int64_t seq_len : {512, 1024, 2048, 4096}) {
        plans.emplace_back().problem = {16, seq_len, 16, d_head, dtype, false};
      }
    }
  }
  return plans;
}

ShardOptions shard(const std::string& text) { return {read_shard(text), "lab"}; }

TEST(Shards, OfAProblemAreTheSameWithEveryVersion) {
  // A change would let shards of two versions measure a problem twice, or not at all.
  EXPECT_EQ(shard_of({16, 512, 16, 64, DType::fp16, false}, 8), 4);
  EXPECT_EQ(shard_of({4, 4096, 16, 128, DType::bf16, true}, 8), 4);
  Problem grouped{4, 4096, 16, 128, DType::bf16, true};
  grouped.kv_heads = 2;
  EXPECT_EQ(shard_of(grouped, 1000), 305);
}

TEST(Shards, HaveEachProblemOnce) {
  std::multiset<std::int64_t> places;
  for (int number = 1; number <= 5; ++number) {
    auto problems = some_problems();
    const auto taken = take_shard(shard(std::to_string(number) + "/5"), problems);
    ASSERT_TRUE(taken);
    EXPECT_EQ(taken->sweep_problems, 16);
    EXPECT_EQ(taken->fleet, "lab");
    ASSERT_EQ(taken->problems.size(), problems.size());
    for (std::size_t i = 0; i < problems.size(); ++i) {
      const PlacedProblem& placed = taken->problems[i];
      EXPECT_EQ(placed.problem, problems[i].problem);
      EXPECT_EQ(placed.problem, some_problems().at(static_cast<std::size_t>(placed.place)).problem);
      places.insert(placed.place);
    }
  }
  EXPECT_EQ(places.size(), 16U);
  EXPECT_EQ(std::set<std::int64_t>(places.begin(), places.end()).size(), 16U);
}

TEST(Shards, DoNotDependOnTheOtherProblems) {
  auto all = some_problems();
  std::vector<ProblemPlan> one{all[7]};
  const int number = shard_of(all[7].problem, 3);
  const auto taken = take_shard(shard(std::to_string(number) + "/3"), one);
  EXPECT_EQ(taken->problems.size(), 1U);
}

TEST(Shards, OfAWorkloadAreBalancedByTheTimeOfAllCalls) {
  auto all = some_problems();
  for (ProblemPlan& plan : all) {
    plan.calls = 1.0;
    plan.before_us = 1.0;
  }
  all[2].calls = 15.0;  // as much as all others
  auto first = all;
  auto second = all;
  const auto heavy = take_shard(shard("1/2"), first);
  const auto rest = take_shard(shard("2/2"), second);
  EXPECT_EQ(heavy->problems.front().place, 2);
  EXPECT_EQ(heavy->problems.size() + rest->problems.size(), 16U);
  EXPECT_LE(heavy->problems.size(), 5U);  // a quarter of the weights is equal
  for (ProblemPlan& plan : all) {
    plan.before_us.reset();  // by the work in place of the time
  }
  all[2].calls = 1e6;
  const auto by_work = take_shard(shard("1/16"), all);
  EXPECT_EQ(by_work->problems.size(), 1U);
  EXPECT_EQ(by_work->problems.front().place, 2);
}

TEST(Shards, OfNoneAreAllProblems) {
  auto problems = some_problems();
  EXPECT_FALSE(take_shard({}, problems));
  EXPECT_EQ(problems.size(), 16U);
}

TEST(Shards, AreNumbersFromOneToTheirCount) {
  EXPECT_EQ(shard_text(read_shard("3/8")), "3/8");
  EXPECT_EQ(shard_text(parse_shard("1,2,5/8")), "1,2,5/8");
  for (const char* text : {"", "3", "0/8", "9/8", "a/8", "3/", "/8", "3/8x", "-1/8", "1,2/8", "3/0",
                           "1/9999999", "1//8", "3/8/2"}) {
    EXPECT_THROW((void)read_shard(text), Error) << text;
  }
}

class SlurmTask : public testing::Test {
 protected:
  ~SlurmTask() override {
    for (const char* name : kNames) {
      ::unsetenv(name);
    }
  }
  static void set(const std::array<const char*, 4>& values) {
    for (std::size_t i = 0; i < kNames.size(); ++i) {
      ::setenv(kNames.at(i), values.at(i), 1);
    }
  }
  static constexpr std::array<const char*, 4> kNames{
      "SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT", "SLURM_ARRAY_TASK_MIN",
      "SLURM_ARRAY_TASK_MAX"};
};

TEST_F(SlurmTask, IsAShardWhateverNumberTheArrayBeginsWith) {
  set({"0", "8", "0", "7"});
  EXPECT_EQ(shard_text(read_shard("auto")), "1/8");
  set({"17", "8", "10", "17"});
  EXPECT_EQ(shard_text(read_shard("auto")), "8/8");
}

TEST_F(SlurmTask, OfAnArrayWithGapsIsNoShard) {
  set({"3", "2", "3", "7"});  // --array=3,7: the shards that failed, not halves of the sweep
  EXPECT_THROW((void)read_shard("auto"), Error);
}

TEST_F(SlurmTask, IsNeeded) { EXPECT_THROW((void)read_shard("auto"), Error); }

}  // namespace
}  // namespace fatune
