// A sweep in shards, each with a store of its own, and what becomes of them when they are merged.
#include "cli/program.hpp"

#include <set>

namespace fatune::testing_cli {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr int kShards = 4;

class Fleet : public ProgramTest {
 protected:
  Fleet() { use_fake_worker({{"us", {{"turns_1", 100}, {"turns_2", 101}, {"turns_4", 200}}}}); }

  static std::vector<std::string> sweep_of(const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"sweep",
                                       "--kernel-dir",
                                       FATUNE_SOURCE_DIR "/tests/families/faulty",
                                       "--seq",
                                       "128,256,384,512,640",
                                       "--batch",
                                       "1",
                                       "--heads",
                                       "1",
                                       "--format",
                                       "json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
  ProcessResult sweep_shard(int number, const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments =
        sweep_of({"--shard", shard(number), "--db", store(number)});
    arguments.insert(arguments.end(), more.begin(), more.end());
    return fatune(arguments);
  }
  [[nodiscard]] static std::string shard(int number) {
    return std::to_string(number) + "/" + std::to_string(kShards);
  }
  [[nodiscard]] std::string store(int number) const {
    return path("shard-" + std::to_string(number) + ".db");
  }
  [[nodiscard]] std::vector<std::string> merge_of(const std::vector<int>& numbers) const {
    std::vector<std::string> arguments{"merge", path("all.db"), "--format", "json"};
    for (const int number : numbers) {
      if (std::filesystem::exists(store(number))) {
        arguments.push_back(store(number));
      }
    }
    return arguments;
  }
  void merge(const std::vector<int>& numbers) {
    const ProcessResult merged = fatune(merge_of(numbers));
    expect_ok(merged);
    expect_schema(merged.out, "merge");
  }
  json show(const std::string& db) {
    return fatune_json({"show", "last", "--db", db, "--format", "json"});
  }

  /// Without times and identifiers.
  static json timeless(json value) {
    if (value.is_object()) {
      for (const char* name : {"command_line", "started_at", "wall_s", "gpu_busy_percent",
                               "elapsed_s", "compile_ms", "from_cache"}) {
        value.erase(name);
      }
    }
    if (value.is_structured()) {
      for (auto& [key, part] : value.items()) {
        part = timeless(part);
      }
    }
    return value;
  }
};

TEST_F(Fleet, MergedIsTheUnshardedSweep) {
  expect_ok(fatune(sweep_of({"--no-db"})));  // what is compiled first is measured first
  const ProcessResult whole = fatune(sweep_of({"--db", path("whole.db")}));
  expect_ok(whole);
  std::set<std::string> shards;
  std::size_t problems = 0;
  for (int number = 1; number <= kShards; ++number) {
    const ProcessResult result = sweep_shard(number);
    expect_ok(result);
    if (result.out.empty()) {
      EXPECT_THAT(result.err, HasSubstr("has none of the sweep's 5 problems"));
      continue;
    }
    expect_schema(result.out, "results");
    const json report = json::parse(result.out);
    shards.insert(report["shard"].get<std::string>());
    problems += report["problems"].size();
    EXPECT_EQ(fatune({"show", "last", "--db", store(number), "--format", "json"}).out, result.out);
  }
  EXPECT_EQ(problems, 5U);
  EXPECT_GT(shards.size(), 1U);
  merge({4, 2, 3, 1});
  EXPECT_EQ(json::diff(timeless(show(path("all.db"))), timeless(json::parse(whole.out))),
            json::array());
  const std::string once = fatune({"show", "last", "--db", path("all.db"), "--format", "json"}).out;
  merge({1, 2, 3, 4});
  EXPECT_EQ(fatune({"show", "last", "--db", path("all.db"), "--format", "json"}).out, once);
  const json history = fatune_json({"history", "--db", path("all.db"), "--format", "json"});
  ASSERT_EQ(history["runs"].size(), 1U);
  EXPECT_EQ(history["runs"][0]["problems"], 5);
  EXPECT_EQ(history["runs"][0]["shard"], nullptr);
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"report", "last", "--db", path("all.db"), "--out", path("r.html")},
        {"export", "--run", "last", "--db", path("all.db"), "--kernel-dir",
         FATUNE_SOURCE_DIR "/tests/families/faulty"},
        {"compare", "last", "last", "--db", path("all.db")}}) {
    expect_ok(fatune(command));
  }
}

TEST_F(Fleet, LacksWhatAShardHasNotDone) {
  std::vector<int> with_problems;
  for (int number = 1; number <= kShards; ++number) {
    if (!sweep_shard(number).out.empty()) {
      with_problems.push_back(number);
    }
  }
  const int missing = with_problems.back();
  with_problems.pop_back();
  merge(with_problems);
  const json part = show(path("all.db"));
  EXPECT_EQ(part["complete"], false);
  EXPECT_THAT(part["shard"].get<std::string>(), HasSubstr("/4"));
  EXPECT_LT(part["problems"].size(), 5U);
  merge({missing});
  EXPECT_EQ(show(path("all.db"))["complete"], true);
}

TEST_F(Fleet, OfAnotherNameIsAnotherRun) {
  for (const char* name : {"monday", "tuesday"}) {
    for (int number = 1; number <= kShards; ++number) {
      (void)sweep_shard(number, {"--fleet", name});
    }
  }
  merge({1, 2, 3, 4});
  const json history = fatune_json({"history", "--db", path("all.db"), "--format", "json"});
  EXPECT_EQ(history["runs"].size(), 2U);
}

TEST_F(Fleet, RefusesShardsThatAreNone) {
  for (const char* text : {"0/4", "5/4", "x", "1,2/4", "auto"}) {
    expect_error(fatune(sweep_of({"--shard", text})), ExitCode::usage, {"--shard"});
  }
  EXPECT_EQ(fatune(sweep_of({"--fleet", "monday"})).exit_code, static_cast<int>(ExitCode::usage));
  EXPECT_EQ(fatune(sweep_of({"--shard", "1/4", "--cover", "5"})).exit_code,
            static_cast<int>(ExitCode::usage));
}

TEST_F(Fleet, TakesItsShardFromASlurmArray) {
  process_.environment.insert({{"SLURM_ARRAY_TASK_ID", "7"},
                               {"SLURM_ARRAY_TASK_COUNT", "1"},
                               {"SLURM_ARRAY_TASK_MIN", "7"},
                               {"SLURM_ARRAY_TASK_MAX", "7"}});
  const json report = fatune_json(sweep_of({"--shard", "auto", "--no-db"}));
  EXPECT_EQ(report["shard"], "1/1");
  EXPECT_EQ(report["problems"].size(), 5U);
}

}  // namespace
}  // namespace fatune::testing_cli
