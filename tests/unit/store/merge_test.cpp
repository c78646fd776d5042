// Merges runs of several stores into one. Nothing is lost, and nothing is duplicated.
#include "store/merge.hpp"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <iostream>
#include <random>
#include <thread>

#include "model/record_json.hpp"
#include "store/recall.hpp"
#include "store/run_reader.hpp"
#include "unit/store/run_samples.hpp"
#include "unit/store/store_folder.hpp"

namespace fatune {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr int kShards = 4;

NewRun shard_run(int number) {
  NewRun run = sample_run();
  run.identity = {"conditions-" + std::to_string(number), "plan-" + std::to_string(number)};
  run.header.device.uuid = "GPU-" + std::to_string(number);
  run.header.shard = Shard{{number}, kShards, "",
                           "sweep",  kShards, {{number - 1, sample_problem(100 * number).problem}}};
  return run;
}

JournalEvent some_event() {
  JournalEvent event;
  event.kind = JournalEvent::Kind::sample;
  event.config = "(FP16, 1): fast";
  event.us = 12.5;
  return event;
}

/// Adds a run of one problem with `outcomes` outcomes, and `events` events for each.
void add_run(Database& database, const NewRun& run, std::int64_t seq_len, int outcomes,
             int events = 1) {
  RunWriter writer(database, run);
  ProblemReport problem = sample_problem(seq_len);
  problem.run = 1;
  writer.begin_problem(problem);
  Journal journal(database, writer.run_problem());
  for (int i = 1; i <= outcomes; ++i) {
    for (int event = 0; event < events; ++event) {
      journal.add(some_event());
    }
    problem.ranking.push_back(sample_result(i, sample_measurement(100.0 + i)));
    writer.add(problem.ranking.back(), tried());
    problem.ranking.back().rank = i;
  }
  writer.end_problem(problem, true);
  writer.end_run(run_end(1.5, true));
}

class Merging : public StoreFolder {
 protected:
  [[nodiscard]] fs::path store(int number) const {
    return folder_ / ("shard-" + std::to_string(number) + ".db");
  }
  fs::path make_shard(int number, int outcomes = 3) const {
    Database database = open_store(store(number), Database::Mode::create);
    add_run(database, shard_run(number), 100 * number, outcomes);
    return store(number);
  }
  std::vector<fs::path> make_shards(int outcomes = 3) const {
    std::vector<fs::path> stores;
    for (int number = 1; number <= kShards; ++number) {
      stores.push_back(make_shard(number, outcomes));
    }
    return stores;
  }

  /// All rows of the tables that hold runs.
  static std::string content(Database& database) {
    std::string text;
    for (const char* table : {"runs", "run_problems", "outcomes", "samples", "journal"}) {
      Statement row = database.prepare(std::string("SELECT * FROM ") + table + " ORDER BY 1, 2");
      while (row.step()) {
        for (int i = 0; i < row.columns(); ++i) {
          text += row.text(i) + '|';
        }
        text += '\n';
      }
    }
    return text;
  }
};

TEST_F(Merging, MakesOneRunOfASweepsShards) {
  Database target = open();
  const auto merged = merge_stores(target, make_shards(), Mixture::refused);
  ASSERT_EQ(merged.size(), 4U);
  EXPECT_EQ(merged[2].added, 1);
  EXPECT_EQ(merged[2].outcomes, 3);
  const RunList list = list_runs(target);
  ASSERT_EQ(list.runs.size(), 1U);
  EXPECT_THAT(list.damaged, IsEmpty());
  EXPECT_EQ(list.runs[0].problems, 4);
  EXPECT_EQ(list.runs[0].outcomes, 12);
  EXPECT_TRUE(list.runs[0].complete);
  EXPECT_EQ(list.runs[0].shard, "");
  for (std::int64_t number = 1; number <= kShards; ++number) {
    const StoredRun run = load_run(target, number).value();
    ASSERT_EQ(run.problems.size(), 4U);
    EXPECT_EQ(run.header.gpus, 4);
  }
}

TEST_F(Merging, KeepsEverything) {
  Database source = open_store(make_shard(2), Database::Mode::existing);
  Database target = open();
  add_run(target, sample_run(), 512, 2);
  (void)merge_stores(target, {make_shard(1), store(2)}, Mixture::refused);
  const StoredRun before = load_run(source, 1).value();
  const StoredRun after = load_run(target, 3).value();
  ASSERT_EQ(after.problems.size(), 2U);
  const ProblemReport& problem = after.problems[1].report;
  ASSERT_EQ(problem.ranking.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(record_json(problem.ranking[i]), record_json(before.problems[0].report.ranking[i]));
  }
  EXPECT_EQ(load_journal(target, after.problems[1].id).size(), 3U);
  EXPECT_TRUE(recall_measurement({target, {"conditions-2", {}}, 0},
                                 {problem.problem, 1, "key-1", sample_launch()}));
}

TEST_F(Merging, TwiceChangesNothing) {
  Database target = open();
  const auto stores = make_shards();
  (void)merge_stores(target, stores, Mixture::refused);
  const std::string once = content(target);
  const auto again = merge_stores(target, stores, Mixture::refused);
  EXPECT_EQ(content(target), once);
  EXPECT_EQ(again[0].known, 1);
  EXPECT_EQ(again[0].added, 0);
}

TEST_F(Merging, TakesMergedStoresToo) {
  Database half = open_store(folder_ / "half.db", Database::Mode::create);
  const auto stores = make_shards();
  (void)merge_stores(half, {stores[0], stores[1]}, Mixture::refused);
  Database target = open();
  (void)merge_stores(target, {stores[1], folder_ / "half.db", stores[2], stores[3]},
                     Mixture::refused);
  EXPECT_EQ(target.value("SELECT count(*) FROM runs"), 4);
  EXPECT_TRUE(load_run(target, 1).value().header.complete);
}

TEST_F(Merging, RenewsARunThatWasGoingOn) {
  Database source = open_store(store(1), Database::Mode::create);
  RunWriter writer(source, shard_run(1));
  ProblemReport problem = sample_problem(100);
  writer.begin_problem(problem);
  writer.add(sample_result(1, sample_measurement(100.0)), tried());
  Database target = open();
  (void)merge_stores(target, {store(1), make_shard(2)}, Mixture::refused);
  writer.add(sample_result(2, sample_measurement(90.0)), tried());
  writer.end_problem(problem, true);
  writer.end_run(run_end(2.0, true));
  const auto merged = merge_stores(target, {store(1)}, Mixture::refused);
  EXPECT_EQ(merged[0].renewed, 1);
  EXPECT_EQ(target.value("SELECT count(*) FROM runs"), 2);
  EXPECT_EQ(load_run(target, 1).value().problems.at(0).report.failures.size() +
                load_run(target, 1).value().problems.at(0).report.ranking.size(),
            2U);
}

TEST_F(Merging, KeepsWhatARunRepeatsOfAnother) {
  Database source = open_store(make_shard(1), Database::Mode::create);
  Database target = open();
  add_run(target, sample_run(), 512, 5);
  (void)merge_stores(target, {store(1)}, Mixture::refused);
  RunWriter resumed(source, shard_run(1));
  resumed.begin_problem(sample_problem(100));
  resumed.repeat_problem(1);
  resumed.end_run(run_end(1.0, true));
  (void)merge_stores(target, {store(1)}, Mixture::refused);
  EXPECT_EQ(target.value("SELECT count(*) FROM samples"), 3 * (5 + 3)) << "repeated: no copies";
  const StoredProblem last = load_problem(target, target.value("SELECT max(id) FROM run_problems"));
  ASSERT_EQ(last.report.ranking.size(), 3U);
  EXPECT_TRUE(last.report.ranking[0].reused);
  EXPECT_EQ(ranked_us(last.report.ranking[0].outcome), 101.0);
}

TEST_F(Merging, LeavesDamagedRunsOut) {
  const auto stores = make_shards();
  {
    Database damaged = open_store(store(3), Database::Mode::create);
    damaged.execute("UPDATE samples SET us = -1 WHERE number = 1");
  }
  Database target = open();
  const auto merged = merge_stores(target, stores, Mixture::refused);
  EXPECT_THAT(merged[2].damaged, ElementsAre(1));
  EXPECT_EQ(merged[2].added, 0);
  EXPECT_EQ(list_runs(target).runs.at(0).shard, "1,2,4/4");
}

/// Errors other than Error end the test.
TEST_F(Merging, OfAHeaderOfAnotherKindIsDoneOrRefused) {
  int number = 0;
  for (const char* header :
       {R"({"uid": 5, "imported_from": {}, "measured": 3, "toolchain": 1, "policy": []})",
        R"({"uid": null, "device": {"name": 1}})", "[1]", "7"}) {
    Database target = open();
    const fs::path file = make_shard(++number);
    {
      Database other = open_store(file, Database::Mode::create);
      other.prepare("UPDATE runs SET header = ?").bind(std::string(header)).run();
    }
    try {
      (void)merge_stores(target, {make_shard(++number), file}, Mixture::refused);
    } catch (const Error& error) {
      EXPECT_NE(error.code(), ExitCode::internal) << error.what();
    }
  }
}

TEST_F(Merging, RefusesOtherGpusDriversAndPolicies) {
  const std::vector<std::pair<const char*, void (*)(RunReport&)>> changes{
      {"GPU model", [](RunReport& header) { header.device.name = "Other GPU"; }},
      {"driver", [](RunReport& header) { header.toolchain.driver_release = "1.2"; }},
      {"policy", [](RunReport& header) { header.policy.repeats = 77; }}};
  Database target = open();
  (void)merge_stores(target, {make_shard(1)}, Mixture::refused);
  const std::string before = content(target);
  int number = 1;
  for (const auto& [what, change] : changes) {
    NewRun run = shard_run(++number);
    change(run.header);
    Database other = open_store(store(number), Database::Mode::create);
    add_run(other, run, 100, 1);
    expect_store_error([&] { (void)merge_stores(target, {store(number)}, Mixture::refused); },
                       ExitCode::usage, {what, "--grouped", store(number).string()});
    EXPECT_EQ(content(target), before);
  }
  (void)merge_stores(target, {store(2), store(3)}, Mixture::grouped);
  EXPECT_EQ(target.value("SELECT count(*) FROM runs"), 3);
}

TEST_F(Merging, AddsAllOrNothing) {
  auto stores = make_shards();
  Database target = open();
  add_run(target, sample_run(), 512, 1);
  const std::string before = content(target);
  stores.push_back(folder_ / "not_there.db");
  expect_store_error([&] { (void)merge_stores(target, stores, Mixture::refused); },
                     ExitCode::bad_file, {"not_there.db"});
  EXPECT_EQ(content(target), before);
}

struct Cost {
  double wall_s = 0.0;
  double cpu_s = 0.0;
  std::int64_t mebibytes = 0;
};

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

/// The cost of merging in a process of its own.
Cost cost_of_merging(const fs::path& target, const std::vector<fs::path>& stores) {
  const auto start = std::chrono::steady_clock::now();
  const pid_t child = ::fork();
  if (child == 0) {
    Database database = open_store(target, Database::Mode::create);
    (void)merge_stores(database, stores, Mixture::refused);
    ::_exit(0);
  }
  rusage usage{};
  int status = -1;
  ::wait4(child, &status, 0, &usage);
  EXPECT_EQ(status, 0);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  return {took.count(), seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime),
          usage.ru_maxrss / 1024};
}

/// Merges a hundredth of them by default, and all of them with FATUNE_MERGED_STORES=1000.
TEST_F(Merging, AThousandStoresTakesAMinuteAndAGigabyteAtMost) {
  const char* const wanted = std::getenv("FATUNE_MERGED_STORES");
  const int count = wanted == nullptr ? 10 : std::stoi(wanted);
  {
    Database first = open_store(store(0), Database::Mode::create);
    add_run(first, shard_run(1), 100, 480, 3);
  }
  std::vector<fs::path> stores;
  for (int i = 1; i <= count; ++i) {
    stores.push_back(store(i));
    fs::copy_file(store(0), stores.back());
    Database copy = open_store(stores.back(), Database::Mode::create);
    copy.prepare("UPDATE runs SET header = json_set(header, '$.uid', ?)")
        .bind(std::to_string(i))
        .run();
  }
  const Cost cost = cost_of_merging(path_, stores);
  std::cout << count << " stores: " << cost.wall_s << " s, " << cost.cpu_s << " s of a core, "
            << cost.mebibytes << " MiB\n";
  EXPECT_LT(cost.cpu_s, std::max(10.0, 0.060 * count)) << "other work on the machine not counted";
  EXPECT_LT(cost.mebibytes, 1024);
  Database target = open();
  EXPECT_EQ(target.value("SELECT count(*) FROM outcomes"), 480 * count);
}

/// Whenever the process is killed, either nothing or everything has been merged.
TEST_F(Merging, KilledLeavesTheTargetAsItWas) {
  constexpr int kKills = 20;
  const auto stores = make_shards(200);
  std::string before;
  {
    Database target = open();
    add_run(target, sample_run(), 512, 3);
    before = content(target);
  }
  std::mt19937 random(20261123);
  int killed = 0;
  for (int i = 0; i < kKills; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      Database target = open();
      (void)merge_stores(target, stores, Mixture::refused);
      ::_exit(0);
    }
    std::this_thread::sleep_for(
        std::chrono::milliseconds(std::uniform_int_distribution<int>(0, 60)(random)));
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    Database target = open();
    const bool untouched = content(target) == before;
    killed += untouched ? 1 : 0;
    if (!untouched) {
      EXPECT_EQ(target.value("SELECT count(*) FROM outcomes"), 3 + 4 * 200);
      EXPECT_THAT(list_runs(target).damaged, IsEmpty());
      target.execute(
          "PRAGMA foreign_keys = OFF; DELETE FROM samples WHERE outcome > 3; "
          "DELETE FROM journal WHERE run_problem > 1; DELETE FROM outcomes WHERE id > 3; "
          "DELETE FROM run_problems WHERE id > 1; DELETE FROM runs WHERE id > 1");
      EXPECT_EQ(content(target), before);
    }
  }
  EXPECT_GT(killed, 0) << "no merge lasted until its kill";
  Database target = open();
  (void)merge_stores(target, stores, Mixture::refused);
  EXPECT_EQ(target.value("SELECT count(*) FROM outcomes"), 3 + 4 * 200);
  EXPECT_THAT(list_runs(target).damaged, IsEmpty());
}

}  // namespace
}  // namespace fatune
