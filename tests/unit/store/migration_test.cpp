// A file of schema version 1 is read with its contents unchanged.
#include <fmt/format.h>

#include "record/record_json.hpp"
#include "store/digest.hpp"
#include "store/run_reader.hpp"
#include "store/stored_result.hpp"
#include "unit/store/run_samples.hpp"
#include "unit/store/store_folder.hpp"

namespace fatune {
namespace {

/// The policy as the fatune of that version wrote it, with fewer members than today's.
constexpr const char* kPolicy1 =
    R"({"confidence":0.95,"device_gate":true,"flush_l2":false,"repeats":3,)"
    R"("seed":18446744073709551615,"warmup":2})";

class Migration : public StoreFolder {
 protected:
  /// Writes a run of version 1 with one ranked problem and this text of its policy.
  void write_version_1(const std::string& policy) {
    Database database = make_recorded("version1.sql");
    const NewRun run = sample_run();
    database.prepare("INSERT INTO devices VALUES (1, ?, ?, ?)")
        .bind(run.header.device.uuid, run.header.device.name,
              record_text(record_json(run.header.device)))
        .run();
    database
        .prepare(
            "INSERT INTO runs VALUES (1, 'fatune run', '2026-01-02T03:04:05Z', 2.5, 1, 0, 'tune', "
            "'toy', NULL, 1, 12345, ?, ?, 'conditions', 'plan')")
        .bind(policy, record_text(record_json(run.header.toolchain)))
        .run();
    database.execute(
        "INSERT INTO problems VALUES (1, 16, 512, 16, 128, 15, 1);"
        "INSERT INTO run_problems VALUES (1, 1, 1, 2, 3, 4, 1)");
    add_outcome(database);
  }

  [[nodiscard]] StoredRun load() const {
    Database database = open();
    return load_run(database, 1).value();
  }

  const Result entry_ = sample_result(1, sample_measurement(100.0 / 3.0));

 private:
  void add_outcome(Database& database) const {
    nlohmann::json outcome = record_json(entry_.outcome);
    outcome["timing"]["samples_us"] = nlohmann::json::array();
    outcome["timing"].erase("warnings");  // a later version added these
    const std::vector<double> samples_us = samples_of(entry_);
    database.prepare("INSERT INTO configurations VALUES (1, 'toy', ?, 'abc', ?, ?, ?)")
        .bind(entry_.short_form, entry_.kernel_name, column_text(entry_.config),
              std::string(R"([["dtype","FP16"],["rows","1"]])"))
        .run();
    database.prepare("INSERT INTO artifacts VALUES (1, 'key-1', 'code', ?)")
        .bind(column_text(*entry_.facts))
        .run();
    database
        .prepare(
            "INSERT INTO outcomes VALUES (1, 1, 1, 1, ?, 1, NULL, 'measured', 33.3, ?, ?, 32768, "
            "128, 3, 250.123456789, 1, 2000000000.1, 1, 1, 100.0, 1)")
        .bind(launch_column(sample_launch()), outcome.dump(), digest_of(outcome.dump(), samples_us))
        .run();
    save_samples(database, 1, samples_us);
  }

  static std::string digest_of(const std::string& outcome, const std::vector<double>& samples_us) {
    Digest digest;
    digest.update(outcome);
    for (const double us : samples_us) {
      digest.update(fmt::format(",{}", us));
    }
    return digest.hex();
  }
};

TEST_F(Migration, ARunOfVersion1IsReadAsAnExhaustiveOne) {
  write_version_1(kPolicy1);
  const RunReport header = load().header;
  MeasurePolicy policy;
  policy.strategy = Strategy::exhaustive;
  policy.warmup = 2;
  policy.repeats = 3;
  policy.flush_l2 = false;
  policy.seed = 0xffffffffffffffff;
  EXPECT_EQ(record_json(header.policy), record_json(policy));
  EXPECT_EQ(header.wall_s, 2.5);
  EXPECT_EQ(header.busy_s, 0.0);
  EXPECT_EQ(header.gpus, 1);
  EXPECT_TRUE(header.complete);
}

TEST_F(Migration, ItsProblemsAndOutcomesStay) {
  write_version_1(kPolicy1);
  const StoredRun run = load();
  ASSERT_EQ(run.problems.size(), 1U);
  const ProblemReport& report = run.problems[0].report;
  EXPECT_EQ(report.problem, sample_problem().problem);
  EXPECT_EQ(report.device_uuid, "GPU-1");
  EXPECT_FALSE(report.measuring);
  EXPECT_FALSE(report.conditions);
  EXPECT_FALSE(report.matmul);
  EXPECT_TRUE(report.audit.empty());
  ASSERT_EQ(report.ranking.size(), 1U);
  Result expected = entry_;
  expected.rank = 1;
  expected.tie_group = 1;
  expected.relative_percent = 100.0;
  EXPECT_EQ(record_json(report.ranking[0]), record_json(expected));
  EXPECT_TRUE(report.audited.empty());
}

TEST_F(Migration, ADamagedOutcomeOfVersion1StaysDamaged) {
  write_version_1(kPolicy1);
  {
    Database database(path_, Database::Mode::existing, std::chrono::milliseconds(100));
    database.execute("UPDATE samples SET us = us + 1 WHERE number = 2");
  }
  Database database = open();
  expect_store_error([&] { (void)load_run(database, 1); }, ExitCode::bad_file,
                     {path_.string(), "run 1 cannot be read"});
}

TEST_F(Migration, ADamagedPolicyDoesNotStandInTheWayOfTheOthers) {
  write_version_1("{\"confidence\":");
  Database database = open();
  EXPECT_EQ(list_runs(database).runs.size(), 1U);
  expect_store_error([&] { (void)load_run(database, 1); }, ExitCode::bad_file,
                     {path_.string(), "run 1 cannot be read"});
}

/// The tables with their columns, and the indexes.
std::string schema_of(Database& database) {
  std::string text;
  Statement rows = database.prepare(
      "SELECT m.name || ' ' || c.cid || c.name || c.type || c.\"notnull\" || "
      "coalesce(c.dflt_value, '') || c.pk FROM sqlite_master m, pragma_table_info(m.name) c "
      "WHERE m.type = 'table' UNION ALL SELECT name || tbl_name || sql FROM sqlite_master "
      "WHERE type = 'index' AND sql IS NOT NULL ORDER BY 1");
  while (rows.step()) {
    text += rows.text(0) + "\n";
  }
  return text;
}

TEST_F(Migration, EndsWithTheTablesOfANewFile) {
  write_version_1(kPolicy1);
  Database migrated = open();
  Database fresh = open_store(folder_ / "fresh.db", Database::Mode::create);
  EXPECT_EQ(schema_of(migrated), schema_of(fresh));
  EXPECT_THAT(schema_of(fresh), testing::HasSubstr("outcomes_by_problem"));
}

TEST_F(Migration, ARunWrittenNowStandsBesideIt) {
  write_version_1(kPolicy1);
  Database database = open();
  const RunWriter writer(database, sample_run());
  EXPECT_EQ(writer.run_id(), 2);
  EXPECT_EQ(list_runs(database).runs.size(), 2U);
}

}  // namespace
}  // namespace fatune
