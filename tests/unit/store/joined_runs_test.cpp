#include "store/run_reader.hpp"

#include <gmock/gmock.h>

namespace fatune {
namespace {

using testing::ElementsAre;

Problem problem_of(std::int64_t seq_len) { return {1, seq_len, 1, 64, DType::fp16, false}; }

/// A shard of a sweep of four problems, 0 to 3. Problem i has the length 100 * i + 100.
StoredShard part(std::int64_t id, int number, const std::vector<std::int64_t>& places) {
  StoredShard run;
  run.id = id;
  run.header.started_at = "2026-01-01T00:00:0" + std::to_string(id) + "Z";
  run.header.command_line = "fatune " + std::to_string(id);
  run.header.complete = true;
  run.header.measured = true;
  run.header.gpus = 1;
  run.header.wall_s = 10.0 * static_cast<double>(id);
  run.header.busy_s = 1.0;
  run.header.device.uuid = "GPU-" + std::to_string(number);
  run.header.shard = Shard{{number}, 3, "", "sweep", 4, {}};
  for (const std::int64_t place : places) {
    run.header.shard->problems.push_back({place, problem_of(100 * place + 100)});
    run.problems.push_back({10 * id + place, problem_of(100 * place + 100), 1, true});
  }
  return run;
}

TEST(JoinedRuns, OfEstimatesUsedNoGpu) {
  std::vector<StoredShard> parts{part(1, 1, {0}), part(2, 2, {1})};
  for (StoredShard& estimated : parts) {
    estimated.header.measured = false;
  }
  EXPECT_EQ(join_runs(parts).header.gpus, 0);
}

TEST(JoinedRuns, HaveTheSweepsProblemsInItsOrder) {
  const JoinedRun joined = join_runs({part(1, 2, {1, 3}), part(2, 1, {0}), part(3, 3, {2})});
  EXPECT_THAT(joined.problems, ElementsAre(20, 11, 32, 13));
  EXPECT_TRUE(joined.header.complete);
  EXPECT_FALSE(joined.header.shard);
  EXPECT_EQ(joined.header.command_line, "fatune 1");
  EXPECT_EQ(joined.header.gpus, 3);
  EXPECT_EQ(joined.header.wall_s, 30.0) << "the GPU that took longest";
  EXPECT_EQ(joined.header.busy_s, 3.0);
}

TEST(JoinedRuns, SayWhichShardsAreThere) {
  const JoinedRun joined = join_runs({part(1, 2, {1, 3}), part(2, 1, {0})});
  EXPECT_THAT(joined.problems, ElementsAre(20, 11, 13));
  EXPECT_FALSE(joined.header.complete);
  ASSERT_TRUE(joined.header.shard);
  EXPECT_EQ(shard_text(*joined.header.shard), "1,2/3");
}

TEST(JoinedRuns, NeedNoRunOfAShardWithoutProblems) {
  EXPECT_TRUE(join_runs({part(1, 2, {1, 3}), part(2, 1, {0, 2})}).header.complete);
}

TEST(JoinedRuns, KeepWhatDisturbedAnyOfThem) {
  std::vector<StoredShard> parts{part(1, 1, {0, 1}), part(2, 2, {2, 3})};
  parts[0].header.disturbances = {"a"};
  parts[1].header.disturbances = {"a", "b"};
  EXPECT_THAT(join_runs(parts).header.disturbances, ElementsAre("a", "b"));
}

TEST(JoinedRuns, TakeWhatIsFinishedThenWhatIsNewer) {
  StoredShard killed = part(5, 1, {0, 1});
  killed.header.complete = false;
  killed.problems[1].finished = false;
  const JoinedRun joined =
      join_runs({part(1, 1, {0, 1}), killed, part(2, 2, {2, 3}), part(3, 2, {2, 3})});
  EXPECT_THAT(joined.problems, ElementsAre(50, 11, 32, 33));
  EXPECT_TRUE(joined.header.complete);
}

TEST(JoinedRuns, AreNotCompleteWhileAProblemIsUnfinished) {
  StoredShard killed = part(1, 1, {0, 1});
  killed.problems[1].finished = false;
  const JoinedRun joined = join_runs({killed, part(2, 2, {2, 3})});
  EXPECT_THAT(joined.problems, ElementsAre(10, 11, 22, 23));
  EXPECT_FALSE(joined.header.complete);
}

TEST(JoinedRuns, LeaveARunAsItIsThatHasAllThereIs) {
  StoredShard killed = part(1, 2, {1, 3});
  killed.header.complete = false;
  killed.problems.pop_back();
  const JoinedRun joined = join_runs({killed, part(2, 2, {1, 3})});
  EXPECT_THAT(joined.problems, ElementsAre(21, 23));
  EXPECT_EQ(joined.header.wall_s, 20.0);
  EXPECT_TRUE(joined.header.complete) << "as the shard";
  EXPECT_EQ(shard_text(*joined.header.shard), "2/3");
}

}  // namespace
}  // namespace fatune
