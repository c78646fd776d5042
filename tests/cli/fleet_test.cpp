// Tests a sweep in shards, each with its own store, and the merged result.
#include "cli/program.hpp"

#include <filesystem>
#include <set>

#include "store/database.hpp"

namespace fatune::testing_cli {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr int kShards = 4;

class Fleet : public ProgramTest {
 protected:
  /// Each configuration takes a time of its own. Equal times would be ranked as they arrive from
  /// the compiler.
  Fleet() {
    use_fake_worker({{"us",
                      {{"none):turns_1", 100},
                       {"none):turns_2", 101},
                       {"none):turns_4", 200},
                       {"far_write", 110},
                       {"trap", 111},
                       {"infinite_loop", 112},
                       {"wrong_row", 113},
                       {"late_crash", 114},
                       {"too_much_smem", 120},
                       {"misaligned", 121},
                       {"nan", 122},
                       {"stray_write", 123},
                       {"far_read", 130},
                       {"assertion", 131},
                       {"deadlock", 132},
                       {"near_read", 133},
                       {"over_inputs", 134}}}});
  }

  /// Each configuration gets the same number of samples. The course of a race depends on when each
  /// one arrives.
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
                                       "--repeats",
                                       "5",
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
      arguments.push_back(store(number));
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

  /// Removes times, identifiers, and what depends on when each kernel has been compiled.
  static json timeless(json value) {
    if (value.is_object()) {
      for (const char* name :
           {"command_line", "started_at", "wall_s", "gpu_busy_percent", "busy_s", "uid", "shard",
            "elapsed_s", "compile_ms", "from_cache", "rounds", "samples_taken", "sentinel"}) {
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
    EXPECT_TRUE(std::filesystem::exists(store(number)));
    if (result.out.empty()) {
      EXPECT_THAT(result.err, HasSubstr("has none of the sweep's 5 problems"));
      continue;
    }
    expect_schema(result.out, "results");
    const json report = json::parse(result.out);
    shards.insert(report["shard"]["numbers"].dump());
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
        {"history", "--db", path("all.db")}}) {
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
  EXPECT_EQ(part["shard"]["count"], 4);
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
  EXPECT_EQ(report["shard"]["numbers"], json::array({1}));
  EXPECT_EQ(report["problems"].size(), 5U);
}

// --- Estimates ---

class EstimatedFleet : public Fleet {
 protected:
  static std::vector<std::string> estimate(const std::vector<std::string>& more) {
    std::vector<std::string> arguments =
        sweep_of({"--device", "none", "--arch", "sm_90a", "--no-emulate"});
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
  void estimate_shards() {
    for (int number = 1; number <= kShards; ++number) {
      expect_ok(fatune(estimate({"--shard", shard(number), "--db", store(number)})));
    }
  }
};

TEST_F(EstimatedFleet, MergedIsTheUnshardedEstimate) {
  const ProcessResult whole = fatune(estimate({}));
  expect_ok(whole);
  estimate_shards();
  merge({3, 1, 4, 2});
  const json merged = show(path("all.db"));
  EXPECT_EQ(json::diff(timeless(merged), timeless(json::parse(whole.out))), json::array());
  EXPECT_EQ(merged["measured"], false);
  const json history = fatune_json({"history", "--db", path("all.db"), "--format", "json"});
  ASSERT_EQ(history["runs"].size(), 1U);
  EXPECT_EQ(history["runs"][0]["measured"], false);
  EXPECT_EQ(history["runs"][0]["best_tflops"], nullptr);
  expect_ok(fatune({"report", "last", "--db", path("all.db"), "--out", path("r.html")}));
}

TEST_F(EstimatedFleet, ARecordNeedsANamedStore) {
  expect_error(fatune(estimate({"--shard", "1/1", "--record", path("records")})), ExitCode::usage,
               {"--db"});
}

TEST_F(EstimatedFleet, IsNeverTakenForAMeasurement) {
  const std::string db = path("both.db");
  expect_ok(fatune(estimate({"--db", db})));
  const auto with_db = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--db", db});
    return arguments;
  };
  const std::vector<std::string> family{"--kernel-dir", FATUNE_SOURCE_DIR "/tests/families/faulty"};
  const auto of_family = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), family.begin(), family.end());
    return with_db(arguments);
  };
  expect_error(fatune(of_family({"export", "--run", "1"})), ExitCode::bad_file, {"are estimates"});
  expect_error(fatune(of_family({"export", "--run", "1", "--to", "t4", "--out", path("t4.json")})),
               ExitCode::bad_file, {"are estimates"});
  expect_error(fatune(of_family({"sweep", "--simulate", "1"})), ExitCode::bad_file, {"no times"});
  expect_error(fatune(of_family({"profile", "--run", "1"})), ExitCode::usage, {"no measured"});
  EXPECT_EQ(fatune(with_db({"compare", "1", "1"})).exit_code,
            static_cast<int>(ExitCode::undecided));
  const json report = fatune_json(sweep_of({"--db", db, "--reuse"}));
  EXPECT_EQ(report["measured"], true);
  for (const json& problem : report["problems"]) {
    ASSERT_FALSE(problem["ranking"].empty());
    for (const json& entry : problem["ranking"]) {
      EXPECT_EQ(entry["reused"], false);
      EXPECT_EQ(entry["measured"], true);
    }
  }
  expect_error(fatune({"merge", path("all.db"), db}), ExitCode::usage, {"estimates in", "grouped"});
  expect_ok(fatune({"merge", path("all.db"), db, "--grouped"}));
}

TEST_F(EstimatedFleet, BeginsAnewOnTheSameStore) {
  for (int i = 0; i < 2; ++i) {
    const json report = fatune_json(estimate({"--shard", "1/1", "--db", store(1), "--reuse"}));
    EXPECT_EQ(report["problems"][0]["ranking"][0]["reused"], false);
  }
}

TEST_F(Fleet, AShardThatIsNotStoredIsAnErrorEvenIfQuiet) {
  write("other.db", std::string(10000, 'x'));
  for (const std::string& file : {std::string("/dev/full"), path("other.db")}) {
    const ProcessResult result = fatune(sweep_of({"--shard", "1/1", "--db", file, "-q"}));
    expect_error(result, ExitCode::io, {"results are not stored", file});
    EXPECT_EQ(json::parse(result.out)["problems"].size(), 5U);
  }
}

TEST_F(Fleet, AStoreMustBeAFile) {
  expect_error(fatune(sweep_of({"--shard", "1/1", "--db", ":memory:", "-q"})), ExitCode::usage,
               {"':memory:' is not a file", "--no-db"});
  expect_error(fatune({"history", "--db", ":memory:"}), ExitCode::usage, {"':memory:'"});
}

// --- On a cluster ---

class Cluster : public Fleet {
 protected:
  /// A name that an unquoted shell command would split.
  const std::string fleet_ = path("a fleet's $(folder)");

  ProcessResult write_scripts(const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments{
        "cluster",      "sbatch",      fleet_,    "--shards", "4",        "--gres",        "gpu:1",
        "--constraint", "h100&nvlink", "--limit", "2",        "--sbatch", "--time=1:00:00"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const auto sweep = sweep_of({});
    arguments.emplace_back("--");
    arguments.insert(arguments.end(), sweep.begin() + 1, sweep.end());
    return fatune(arguments);
  }
  /// Runs the array's script as Slurm would start it.
  ProcessResult run_task(int number) {
    process_.environment["SLURM_ARRAY_TASK_ID"] = std::to_string(number);
    return run_process({"/bin/bash", fleet_ + "/array.sbatch"}, process_);
  }
  std::vector<int> missing() {
    std::vector<int> numbers;
    const ProcessResult result = fatune({"cluster", "missing", fleet_, "--format", "json"});
    expect_schema(result.out, "cluster_missing");
    const json report = json::parse(result.out);
    for (const json& shard : report["missing"]) {
      numbers.push_back(shard["shard"]);
    }
    EXPECT_EQ(result.exit_code,
              static_cast<int>(numbers.empty() ? ExitCode::ok : ExitCode::incomplete));
    return numbers;
  }
  /// The number of the first shard that has a problem.
  [[nodiscard]] int shard_with_problems() const {
    int number = 1;
    while (!std::filesystem::exists(fleet_ + "/shards/" + std::to_string(number) + "-of-4.db")) {
      ++number;
    }
    return number;
  }
};

TEST_F(Cluster, ScriptsDoWhatTheUnshardedSweepDoes) {
  expect_ok(fatune(sweep_of({"--no-db"})));
  const ProcessResult whole = fatune(sweep_of({"--db", path("whole.db")}));
  expect_ok(write_scripts());
  const std::string script = read("a fleet's $(folder)/array.sbatch");
  EXPECT_THAT(script, HasSubstr("\n#SBATCH --array=1-4%2\n"));
  EXPECT_THAT(script, HasSubstr("\n#SBATCH --gres=gpu:1\n"));
  EXPECT_THAT(script, HasSubstr("\n#SBATCH --constraint='h100&nvlink'\n"));
  EXPECT_THAT(script, HasSubstr("\n#SBATCH --time=1:00:00\n"));
  EXPECT_THAT(missing(), testing::ElementsAre(1, 2, 3, 4));
  for (int number = 1; number <= kShards; ++number) {
    expect_ok(run_task(number));
  }
  EXPECT_THAT(missing(), IsEmpty());
  expect_ok(run_process({"/bin/bash", fleet_ + "/merge.sbatch"}, process_));
  EXPECT_EQ(json::diff(timeless(show(fleet_ + "/merged.db")), timeless(json::parse(whole.out))),
            json::array());
  expect_ok(run_process({"/bin/bash", fleet_ + "/report.sbatch"}, process_));
  EXPECT_TRUE(std::filesystem::exists(fleet_ + "/report.html"));
}

TEST_F(Cluster, MissesWhatIsNotWhole) {
  expect_ok(write_scripts());
  for (int number = 1; number <= kShards; ++number) {
    expect_ok(run_task(number));
  }
  const int number = shard_with_problems();
  const std::string stem = "a fleet's $(folder)/shards/" + std::to_string(number) + "-of-4";
  const std::string database = read(stem + ".db");
  write(stem + ".db", database.substr(0, database.size() - 1));
  EXPECT_THAT(missing(), testing::ElementsAre(number));
  write(stem + ".db", database);
  EXPECT_THAT(missing(), IsEmpty());
  json record = json::parse(read(stem + ".json"));
  record["finished"] = record["problems"].get<int>() - 1;
  write(stem + ".json", record.dump());
  EXPECT_THAT(missing(), testing::ElementsAre(number));
  write(stem + ".json", "{");
  EXPECT_THAT(missing(), testing::ElementsAre(number));
}

TEST_F(Cluster, RetryGivesWhatIsMissingToSlurm) {
  write("sbatch", "#!/bin/sh\necho \"$*\" >> \"$HOME/jobs\"\necho '42;cluster'\n");
  std::filesystem::permissions(path("sbatch"), std::filesystem::perms::owner_all);
  process_.environment["FATUNE_SBATCH"] = path("sbatch");
  expect_ok(write_scripts({"--submit"}));
  EXPECT_EQ(read("jobs"), "--parsable --array=1-4%2 " + fleet_ + "/array.sbatch\n" +
                              "--parsable --dependency=afterany:42 " + fleet_ + "/merge.sbatch\n" +
                              "--parsable --dependency=afterok:42 " + fleet_ + "/report.sbatch\n");
  expect_ok(run_task(1));
  expect_ok(run_task(3));
  write("jobs", "");
  expect_ok(fatune({"cluster", "retry", fleet_}));
  EXPECT_THAT(read("jobs"), testing::StartsWith("--parsable --array=2,4%2 "));
}

TEST_F(Cluster, RefusesWhatWouldFailInEachShard) {
  const auto with = [&](const std::vector<std::string>& words) {
    std::vector<std::string> arguments{"cluster", "sbatch", fleet_, "--shards", "2", "--"};
    arguments.insert(arguments.end(), words.begin(), words.end());
    return fatune(arguments);
  };
  expect_error(with({"--sqe", "512"}), ExitCode::usage, {"--sqe"});
  expect_error(with({"--seq", "none"}), ExitCode::usage, {"--seq"});
  expect_error(with({"--shard", "1/2"}), ExitCode::usage, {"--shard"});
  expect_error(fatune({"cluster", "sbatch", path("50%"), "--shards", "2"}), ExitCode::usage, {"%"});
  expect_error(fatune({"cluster", "sbatch", fleet_, "--shards", "2", "--gres", "a\n#SBATCH b"}),
               ExitCode::usage, {"control character"});
  EXPECT_FALSE(std::filesystem::exists(fleet_));
  expect_error(fatune({"cluster", "missing", fleet_}), ExitCode::bad_file, {"fleet.json"});
}

// --- Compiled kernels ---

TEST_F(Fleet, StoresWithoutRunsAreNamedWhenTheyAreMerged) {
  write("empty.db", "");
  expect_ok(fatune({"merge", path("none.db"), path("empty.db")}));  // makes a store without runs
  const ProcessResult result = fatune({"merge", path("all.db"), path("empty.db"), path("none.db")});
  expect_ok(result);
  EXPECT_THAT(result.err, HasSubstr(path("empty.db") + " has 0 bytes, and so no runs"));
  EXPECT_THAT(result.err, HasSubstr(path("none.db") + " has no runs"));
  EXPECT_EQ(read("empty.db"), "") << "it is only read";
}

TEST_F(Fleet, KernelsThatDoNotFitOnTheDiskAreAnError) {
  expect_ok(fatune(sweep_of(
      {"--device", "none", "--no-emulate", "--arch", "sm_90a", "--cache-dir", path("cpu")})));
  expect_ok(fatune({"cache", "export", path("one.cubins"), "--cache-dir", path("cpu")}));
  const ProcessResult result =
      run_process({"/bin/sh", "-c", "ulimit -f 1; exec \"$0\" \"$@\"", FATUNE_PROGRAM, "cache",
                   "import", path("one.cubins"), "--cache-dir", path("full")},
                  process_);
  expect_error(result, ExitCode::io,
               {path("full"), "cannot write", "0 kernels were added before", "--cache-dir"});
  EXPECT_EQ(result.out, "");
  EXPECT_TRUE(std::filesystem::is_empty(path("full")));
}

TEST_F(Fleet, CompilesOnOneMachineAndMeasuresOnAnother) {
  const auto cache = [&](const std::string& command, const std::string& file,
                         const std::string& dir, ExitCode code = ExitCode::ok) {
    const ProcessResult result =
        fatune({"cache", command, path(file), "--cache-dir", path(dir), "--format", "json"});
    EXPECT_EQ(result.exit_code, static_cast<int>(code)) << result.err;
    expect_schema(result.out, "cache");
    return json::parse(result.out)["bundles"][0];
  };
  expect_ok(fatune(sweep_of(
      {"--device", "none", "--no-emulate", "--arch", "sm_90a", "--cache-dir", path("cpu")})));
  const json exported = cache("export", "one.cubins", "cpu");
  EXPECT_GT(exported["artifacts"], 10);
  (void)cache("export", "two.cubins", "cpu");
  EXPECT_EQ(read("one.cubins"), read("two.cubins"));
  EXPECT_EQ(cache("import", "one.cubins", "gpu")["added"], exported["artifacts"]);
  EXPECT_EQ(cache("import", "one.cubins", "gpu")["known"], exported["artifacts"]);
  const json report = fatune_json(sweep_of({"--no-db", "--cache-dir", path("gpu")}));
  for (const json& entry : report["problems"][0]["ranking"]) {
    EXPECT_EQ(entry["from_cache"], true) << entry["config"];
  }
  {
    Database bundle(path("two.cubins"), Database::Mode::existing, std::chrono::milliseconds(100));
    bundle.execute(
        "UPDATE artifacts SET entry = entry || 'x' WHERE key = (SELECT min(key) FROM artifacts); "
        "UPDATE artifacts SET key = '../../stray' WHERE key = (SELECT max(key) FROM artifacts)");
  }
  EXPECT_EQ(cache("import", "two.cubins", "other/gpu", ExitCode::bad_file)["damaged"], 2);
  EXPECT_FALSE(std::filesystem::exists(path("stray.artifact")));
  write("three.cubins", "no bundle");
  expect_error(fatune({"cache", "import", path("three.cubins")}), ExitCode::bad_file,
               {"three.cubins"});
}

}  // namespace
}  // namespace fatune::testing_cli
