#include "store/schema.hpp"

#include <algorithm>
#include <array>
#include <string>

#include <fmt/format.h>

#include "core/error.hpp"
#include "store/version4.hpp"

namespace fatune {
namespace {

constexpr std::string_view kVersion1 = R"sql(
CREATE TABLE devices (
  id INTEGER PRIMARY KEY,
  uuid TEXT NOT NULL,
  name TEXT NOT NULL,
  limits TEXT NOT NULL,
  UNIQUE (uuid, limits)
);
CREATE TABLE runs (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  command_line TEXT NOT NULL,
  started_at TEXT NOT NULL,
  wall_s REAL NOT NULL DEFAULT 0,
  complete INTEGER NOT NULL DEFAULT 0,
  anew INTEGER NOT NULL,
  space TEXT NOT NULL,
  family TEXT NOT NULL,
  baseline TEXT,
  device INTEGER NOT NULL REFERENCES devices,
  free_memory_bytes INTEGER NOT NULL,
  policy TEXT NOT NULL,
  toolchain TEXT NOT NULL,
  conditions TEXT NOT NULL,
  plan TEXT NOT NULL
);
CREATE INDEX runs_by_plan ON runs (plan);
CREATE TABLE problems (
  id INTEGER PRIMARY KEY,
  batch INTEGER NOT NULL,
  seq_len INTEGER NOT NULL,
  heads INTEGER NOT NULL,
  d_head INTEGER NOT NULL,
  dtype INTEGER NOT NULL,
  causal INTEGER NOT NULL,
  UNIQUE (batch, seq_len, heads, d_head, dtype, causal)
);
CREATE TABLE run_problems (
  id INTEGER PRIMARY KEY,
  run INTEGER NOT NULL REFERENCES runs,
  problem INTEGER NOT NULL REFERENCES problems,
  repetition INTEGER NOT NULL,
  pruned INTEGER NOT NULL,
  invalid INTEGER NOT NULL,
  ranked INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX run_problems_by_run ON run_problems (run);
CREATE TABLE configurations (
  id INTEGER PRIMARY KEY,
  family TEXT NOT NULL,
  short_form TEXT NOT NULL,
  source_hash TEXT NOT NULL,
  kernel_name TEXT NOT NULL,
  config TEXT NOT NULL,
  parameters TEXT NOT NULL,
  UNIQUE (family, short_form, source_hash, kernel_name, config, parameters)
);
CREATE TABLE artifacts (
  id INTEGER PRIMARY KEY,
  key TEXT NOT NULL,
  code_hash TEXT NOT NULL,
  facts TEXT NOT NULL,
  UNIQUE (key, code_hash, facts)
);
CREATE TABLE outcomes (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  run_problem INTEGER NOT NULL REFERENCES run_problems,
  configuration INTEGER NOT NULL REFERENCES configurations,
  artifact INTEGER REFERENCES artifacts,
  launch TEXT NOT NULL,
  tried INTEGER NOT NULL,
  source INTEGER REFERENCES outcomes,
  kind TEXT NOT NULL,
  time_us REAL,
  outcome TEXT NOT NULL,
  digest TEXT NOT NULL,
  dynamic_smem_bytes INTEGER NOT NULL,
  threads_per_block INTEGER NOT NULL,
  blocks_per_sm INTEGER NOT NULL,
  compile_ms REAL NOT NULL,
  from_cache INTEGER NOT NULL,
  total_flop REAL,
  rank INTEGER NOT NULL DEFAULT 0,
  tie_group INTEGER NOT NULL DEFAULT 0,
  relative_percent REAL NOT NULL DEFAULT 0,
  place INTEGER
);
CREATE INDEX outcomes_by_problem ON outcomes (run_problem);
CREATE INDEX outcomes_by_artifact ON outcomes (artifact);
CREATE TABLE samples (
  outcome INTEGER NOT NULL REFERENCES outcomes,
  number INTEGER NOT NULL,
  us REAL NOT NULL,
  PRIMARY KEY (outcome, number)
) WITHOUT ROWID;
)sql";

/// Runs of version 1 were exhaustive, each on one GPU.
constexpr std::string_view kVersion2 = R"sql(
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

/// Adds the properties of a problem besides its row of problems, which several problems may share.
constexpr std::string_view kVersion3 = R"sql(
ALTER TABLE run_problems ADD COLUMN problem_details TEXT NOT NULL DEFAULT '';
)sql";

/// Results, reports and headers become records, so that a new member of theirs needs no column.
constexpr std::string_view kVersion4 = R"sql(
CREATE TABLE runs_4 (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  complete INTEGER NOT NULL DEFAULT 0,
  anew INTEGER NOT NULL,
  conditions TEXT NOT NULL,
  plan TEXT NOT NULL,
  baseline TEXT,
  seal TEXT,
  header TEXT NOT NULL
);
CREATE TABLE run_problems_4 (
  id INTEGER PRIMARY KEY,
  run INTEGER NOT NULL REFERENCES runs,
  problem TEXT NOT NULL,
  repetition INTEGER NOT NULL,
  ranked INTEGER NOT NULL DEFAULT 0,
  finished INTEGER NOT NULL DEFAULT 0,
  seal TEXT,
  report TEXT NOT NULL
);
CREATE TABLE outcomes_4 (
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

constexpr std::array<SchemaStep, 4> kSteps{
    {{kVersion1}, {kVersion2}, {kVersion3}, {kVersion4, convert_to_version_4}}};

constexpr std::int64_t kApplicationId = 0x46415455;  // "FATU"; PRAGMA application_id

std::int64_t schema_version(Database& database) { return database.value("PRAGMA user_version"); }

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

std::span<const SchemaStep> schema_steps() { return kSteps; }

void migrate(Database& database, std::span<const SchemaStep> steps) {
  check_ours(database);
  check_not_newer(database, steps.size());
  if (schema_version(database) == static_cast<std::int64_t>(steps.size())) {
    return;
  }
  Transaction transaction(database);
  // Another process may have been faster.
  const auto done = static_cast<std::size_t>(schema_version(database));
  for (const SchemaStep& step : steps.subspan(std::min(done, steps.size()))) {
    database.execute(std::string(step.sql));
    if (step.convert != nullptr) {
      step.convert(database);
    }
  }
  database.execute(fmt::format("PRAGMA application_id = {}", kApplicationId));
  database.execute(fmt::format("PRAGMA user_version = {}", std::max(done, steps.size())));
  transaction.commit();
}

}  // namespace fatune
