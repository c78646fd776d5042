// A database that the program wrote with version 3 of the schema (tests/recorded/store).
#include <fmt/format.h>

#include "record/record_json.hpp"
#include "store/journal.hpp"
#include "store/recall.hpp"
#include "store/run_reader.hpp"
#include "unit/store/store_folder.hpp"

namespace fatune {
namespace {

constexpr std::int64_t kLaterRun = 1000;
constexpr std::int64_t kComplete = 1;  ///< run of two configurations on a problem with a window
constexpr std::int64_t kKilled = 2;  ///< run of one configuration, five repetitions of which ended

class Version3 : public StoreFolder {
 protected:
  /// Writes the database. `damage` is SQL that damages it.
  void write(const std::string& damage = {}) const {
    static_cast<void>(make_recorded("version3.sql", damage));
  }

  static RunIdentity identity_of(Database& database, std::int64_t run) {
    Statement row = database.prepare("SELECT conditions, plan FROM runs WHERE id = ?");
    row.bind(run);
    EXPECT_TRUE(row.step());
    return {row.text(0), row.text(1)};
  }

  static Problem problem() { return {1, 128, 1, 128, DType::fp16, false}; }

  /// The stored launch and key of the killed run's configuration.
  static StoredCandidate candidate_of_killed(Database& database) {
    Statement row =
        database.prepare("SELECT artifact_key, launch FROM outcomes WHERE run_problem > 1");
    EXPECT_TRUE(row.step());
    return {problem(), 1, row.text(0),
            LaunchGeometry{{2, 1, 1}, {128, 1, 1}, 32768, {1, 1, 1}, {}, {}}};
  }
};

TEST_F(Version3, EveryRunIsListed) {
  write();
  Database database = open();
  const RunList list = list_runs(database);
  EXPECT_TRUE(list.damaged.empty());
  ASSERT_EQ(list.runs.size(), 2U);
  EXPECT_EQ(list.runs[0].outcomes, 5);
  EXPECT_EQ(list.runs[1].device, "Fake H200");
  EXPECT_EQ(list.runs[1].started_at, "2026-11-22T14:49:34Z");
  EXPECT_TRUE(list.runs[1].complete);
  EXPECT_THAT(list.runs[1].command_line, testing::HasSubstr("--window 64"));
  ASSERT_TRUE(list.runs[1].best);
  EXPECT_EQ(list.runs[1].best->problem.window, 64);
}

TEST_F(Version3, MeasurementsAreTaken) {
  write();
  Database database = open();
  const RunIdentity identity = identity_of(database, kKilled);
  const StoredCandidate candidate = candidate_of_killed(database);
  const auto unfinished = recall_unfinished(database, identity, kLaterRun, candidate);
  ASSERT_TRUE(unfinished);
  EXPECT_EQ(std::get<Measured>(unfinished->outcome).timing.samples_us.size(), 3U);
  EXPECT_TRUE(recall_measurement(database, identity.conditions, kLaterRun, candidate));
  EXPECT_TRUE(recall_problem(database, identity, kLaterRun, problem(), 1));
}

TEST_F(Version3, AJournalIsReplayed) {
  write();
  Database database = open();
  const RunIdentity identity = identity_of(database, kKilled);
  const std::int64_t events = database.value(
      "SELECT count(*) FROM journal WHERE run_problem = "
      "(SELECT id FROM run_problems WHERE run = 2 AND repetition = 3)");
  EXPECT_EQ(recall_journal(database, identity, kLaterRun, problem(), 3).size(),
            static_cast<std::size_t>(events));
}

/// The seals and digests of that version cover each of these values.
TEST_F(Version3, WhatWasDamagedStaysDamaged) {
  for (const char* damage :
       {"runs SET command_line = 'x'", "runs SET policy = replace(policy, '4', '5')",
        "devices SET name = 'x'", "run_problems SET pruned = 1",
        "run_problems SET details = replace(details, '1980', '1981')",
        "run_problems SET problem_details = ''", "problems SET heads = 2",
        "outcomes SET rank = 3 - rank", "outcomes SET blocks_per_sm = 1",
        "outcomes SET outcome = replace(outcome, '100', '101')", "outcomes SET kind = 'x'",
        "samples SET us = us + 1 WHERE number = 2", "configurations SET short_form = 'x'",
        "configurations SET parameters = '[1]'", "artifacts SET facts = '{'"}) {
    SCOPED_TRACE(damage);
    std::filesystem::remove_all(path_.parent_path());
    write("UPDATE " + std::string(damage) + ";");
    Database database = open();
    expect_store_error([&] { (void)load_run(database, kComplete); }, ExitCode::bad_file,
                       {path_.string(), "run 1 cannot be read"});
  }
}

TEST_F(Version3, ADamagedJournalEndsWhereItIsDamaged) {
  write("UPDATE journal SET us = us + 1 WHERE seq = 2;");
  Database database = open();
  EXPECT_EQ(
      recall_journal(database, identity_of(database, kKilled), kLaterRun, problem(), 1).size(), 2U);
}

TEST_F(Version3, ARowWithoutItsPartInAnotherTableIsDamaged) {
  for (const char* table : {"devices", "problems", "configurations", "artifacts"}) {
    SCOPED_TRACE(table);
    std::filesystem::remove_all(path_.parent_path());
    write(fmt::format("DELETE FROM {};", table));
    Database database = open();
    EXPECT_THROW((void)load_run(database, kComplete), Error);
    EXPECT_FALSE(list_runs(database).damaged.empty());
  }
}

}  // namespace
}  // namespace fatune
