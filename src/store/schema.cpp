#include "store/schema.hpp"

#include <algorithm>
#include <array>
#include <string>

#include <fmt/format.h>

#include "core/error.hpp"
#include "store/version4.hpp"

namespace fatune {
namespace {

/// The table of samples, which exists since version 1.
constexpr const char* kSamples = R"sql(
CREATE TABLE samples (
  outcome INTEGER NOT NULL REFERENCES outcomes,
  number INTEGER NOT NULL,
  us REAL NOT NULL,
  PRIMARY KEY (outcome, number)
) WITHOUT ROWID;
)sql";

/// The table of the journal, which exists since version 2.
constexpr const char* kJournal = R"sql(
CREATE TABLE journal (
  run_problem INTEGER NOT NULL REFERENCES run_problems,
  seq INTEGER NOT NULL,
  kind TEXT NOT NULL,
  config TEXT NOT NULL,
  artifact_key TEXT,
  launch TEXT,
  us REAL,
  throttled INTEGER,
  elapsed_s REAL NOT NULL,
  sm_mhz REAL,
  power_w REAL,
  temperature_c REAL,
  clock_limits INTEGER,
  verification TEXT,
  outcome TEXT,
  digest TEXT NOT NULL,
  PRIMARY KEY (run_problem, seq)
) WITHOUT ROWID;
)sql";

/// The tables of version 4. A migration makes them beside the old tables of the same names.
constexpr const char* kRecords = R"sql(
CREATE TABLE runs{0} (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  complete INTEGER NOT NULL DEFAULT 0,
  anew INTEGER NOT NULL,
  conditions TEXT NOT NULL,
  plan TEXT NOT NULL,
  baseline TEXT,
  seal TEXT,
  header TEXT NOT NULL
);
CREATE TABLE run_problems{0} (
  id INTEGER PRIMARY KEY,
  run INTEGER NOT NULL REFERENCES runs,
  problem TEXT NOT NULL,
  repetition INTEGER NOT NULL,
  ranked INTEGER NOT NULL DEFAULT 0,
  finished INTEGER NOT NULL DEFAULT 0,
  seal TEXT,
  report TEXT NOT NULL
);
CREATE TABLE outcomes{0} (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  run_problem INTEGER NOT NULL REFERENCES run_problems,
  place INTEGER,
  source INTEGER REFERENCES outcomes,
  artifact_key TEXT,
  launch TEXT NOT NULL,
  tried INTEGER NOT NULL,
  kind TEXT NOT NULL,
  time_us REAL,
  audited INTEGER NOT NULL,
  code_hash TEXT NOT NULL,
  source_hash TEXT NOT NULL,
  seal TEXT,
  result TEXT NOT NULL
);
)sql";

constexpr const char* kIndexes = R"sql(
CREATE INDEX runs_by_plan ON runs (plan);
CREATE INDEX run_problems_by_run ON run_problems (run);
CREATE INDEX outcomes_by_problem ON outcomes (run_problem);
CREATE INDEX outcomes_by_artifact ON outcomes (artifact_key);
)sql";

void make_tables(Database& database) {
  database.execute(fmt::format(kRecords, ""));
  database.execute(kSamples);
  database.execute(kJournal);
  make_indexes(database);
}

/// Columns that version 2 adds. Runs of version 1 were exhaustive, each on one GPU.
constexpr const char* kColumnsOf2 = R"sql(
ALTER TABLE runs ADD COLUMN busy_s REAL NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN gpus INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN seal TEXT;
ALTER TABLE run_problems ADD COLUMN finished INTEGER NOT NULL DEFAULT 0;
ALTER TABLE run_problems ADD COLUMN details TEXT;
ALTER TABLE run_problems ADD COLUMN seal TEXT;
ALTER TABLE outcomes ADD COLUMN same_code_as TEXT NOT NULL DEFAULT '';
ALTER TABLE outcomes ADD COLUMN pruned_by TEXT NOT NULL DEFAULT '';
ALTER TABLE outcomes ADD COLUMN seal TEXT;
UPDATE runs SET gpus = 1;
UPDATE runs SET policy = json_insert(policy, '$.strategy', 'exhaustive', '$.target_ci', 0.005,
                                     '$.budget_s', 0, '$.cuda_graph', json('false'))
  WHERE json_valid(policy);
UPDATE run_problems SET details =
  (SELECT json_object('device_uuid', d.uuid, 'measuring', NULL, 'conditions', NULL,
                      'audit', json_array())
   FROM runs r JOIN devices d ON d.id = r.device WHERE r.id = run_problems.run);
)sql";

/// Adds the properties of a problem that its row of `problems` lacks. Several problems may share
/// such a row.
constexpr const char* kColumnsOf3 = R"sql(
ALTER TABLE run_problems ADD COLUMN problem_details TEXT NOT NULL DEFAULT '';
)sql";

void to_version_2(Database& database) {
  database.execute(kColumnsOf2);
  database.execute(kJournal);
}

void to_version_3(Database& database) { database.execute(kColumnsOf3); }

/// Turns results, reports and headers into records, so that a new member needs no new column.
void to_version_4(Database& database) {
  database.execute(fmt::format(kRecords, "_4"));
  convert_to_version_4(database);
}

constexpr std::array<SchemaStep, 3> kSteps{to_version_2, to_version_3, to_version_4};

constexpr std::int64_t kApplicationId = 0x46415455;  // "FATU"; PRAGMA application_id

void check_ours(Database& database) {
  const bool empty = database.value("SELECT count(*) FROM sqlite_master") == 0;
  if (!empty && database.value("PRAGMA application_id") != kApplicationId) {
    throw Error(ExitCode::bad_file, "this database belongs to another program",
                database.path().string(), "name another file with --db");
  }
}

void check_not_newer(Database& database, std::size_t known) {
  const std::int64_t version = schema_version(database);
  if (version < 0 || version > static_cast<std::int64_t>(known)) {
    throw Error(ExitCode::bad_file,
                fmt::format("the database has schema version {}, this fatune knows up to {}",
                            version, known),
                database.path().string(), "use the newer fatune, or name another file with --db");
  }
}

}  // namespace

void make_indexes(Database& database) { database.execute(kIndexes); }

std::int64_t schema_version(Database& database) { return database.value("PRAGMA user_version"); }

std::int64_t latest_version(const SchemaVersions& versions) {
  return std::ssize(versions.steps) + 1;
}

SchemaVersions schema_versions() { return {make_tables, kSteps}; }

void check_can_migrate(Database& database, const SchemaVersions& versions) {
  check_ours(database);
  check_not_newer(database, versions.steps.size() + 1);
}

void migrate(Database& database, const SchemaVersions& versions) {
  const std::size_t latest = versions.steps.size() + 1;
  check_can_migrate(database, versions);
  if (schema_version(database) == static_cast<std::int64_t>(latest)) {
    return;
  }
  Transaction transaction(database);
  // Another process may have migrated the file first.
  const auto done = static_cast<std::size_t>(schema_version(database));
  if (done == 0) {
    versions.make(database);
  } else {
    for (const SchemaStep step : versions.steps.subspan(std::min(done, latest) - 1)) {
      step(database);
    }
  }
  database.execute(fmt::format("PRAGMA application_id = {}", kApplicationId));
  database.execute(fmt::format("PRAGMA user_version = {}", std::max(done, latest)));
  transaction.commit();
}

}  // namespace fatune
