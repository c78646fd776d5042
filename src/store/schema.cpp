#include "store/schema.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "core/error.hpp"
#include "core/visible_text.hpp"
#include "store/database.hpp"

namespace fatune {
namespace {

/// PRAGMA user_version of this schema. A change of the tables or of the records in them raises it.
constexpr std::int64_t kVersion = 5;
constexpr std::int64_t kApplicationId = 0x46415455;  // "FATU"; PRAGMA application_id

constexpr const char* kSchemaTables = R"sql(
CREATE TABLE runs (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  complete INTEGER NOT NULL DEFAULT 0,
  anew INTEGER NOT NULL,
  conditions TEXT NOT NULL,
  plan TEXT NOT NULL,
  baseline TEXT,
  seal TEXT,
  header TEXT NOT NULL
);
CREATE TABLE run_problems (
  id INTEGER PRIMARY KEY,
  run INTEGER NOT NULL REFERENCES runs,
  problem TEXT NOT NULL,
  repetition INTEGER NOT NULL,
  ranked INTEGER NOT NULL DEFAULT 0,
  finished INTEGER NOT NULL DEFAULT 0,
  seal TEXT,
  report TEXT NOT NULL
);
CREATE TABLE outcomes (
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
CREATE TABLE samples (
  outcome INTEGER NOT NULL REFERENCES outcomes,
  number INTEGER NOT NULL,
  us REAL NOT NULL,
  PRIMARY KEY (outcome, number)
) WITHOUT ROWID;
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
CREATE INDEX runs_by_plan ON runs (plan);
CREATE INDEX run_problems_by_run ON run_problems (run);
CREATE INDEX outcomes_by_problem ON outcomes (run_problem);
CREATE INDEX outcomes_by_artifact ON outcomes (artifact_key);
)sql";

std::int64_t version_of(Database& database) { return database.value("PRAGMA user_version"); }

}  // namespace

bool has_schema(Database& database) {
  const bool empty = database.value("SELECT count(*) FROM sqlite_master") == 0;
  if (!empty && database.value("PRAGMA application_id") != kApplicationId) {
    throw Error(ExitCode::bad_file, "this database belongs to another program",
                database.path().string(), "name another file with --db");
  }
  const std::int64_t version = version_of(database);
  if (version != 0 && version != kVersion) {
    throw Error(ExitCode::bad_file,
                fmt::format("the database has format {}; this fatune reads and writes format {}",
                            version, kVersion),
                database.path().string(),
                "'fatune export --run N' of the fatune that wrote it exports a run; --db NEW "
                "begins a new database");
  }
  return version != 0;
}

void make_schema(Database& database) {
  Transaction transaction(database);
  if (!has_schema(database)) {  // another process may have made it meanwhile
    database.execute(kSchemaTables);
    database.execute(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}",
                                 kApplicationId, kVersion));
  }
  transaction.commit();
}

namespace {

/// Every view, trigger, virtual table, generated column, check and condition of an index has one of
/// these words. No table or index of fatune has one.
constexpr std::array<std::string_view, 7> kActiveWords{"AS",   "CHECK",   "GENERATED", "TRIGGER",
                                                       "VIEW", "VIRTUAL", "WHERE"};
/// No operator and no comment can be made of these characters.
constexpr std::string_view kPlainMarks = "_ \t\n,\"'()";

bool is_word_character(char c) {
  return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0;
}

bool has_plain_characters(std::string_view sql) {
  return std::ranges::all_of(sql, [](char c) {
    return is_word_character(c) || kPlainMarks.find(c) != std::string_view::npos;
  });
}

bool has_active_word(std::string_view sql) {
  std::string word;
  std::string last;
  for (const char c : sql) {
    if (is_word_character(c)) {
      word += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    } else if (!word.empty()) {
      last = std::exchange(word, {});
    }
    const bool computes_default = c == '(' && last == "DEFAULT";
    if (computes_default || (word.empty() && std::ranges::count(kActiveWords, last) > 0)) {
      return true;
    }
  }
  return false;
}

/// In PRAGMA index_xinfo, -2 is the number of a column that is an expression.
constexpr const char* kSchema =
    "SELECT m.type, m.name, m.sql, m.type IN ('table', 'index') AND NOT EXISTS "
    "(SELECT 1 FROM pragma_index_xinfo(m.name) i WHERE m.type = 'index' AND i.cid = -2) "
    "FROM sqlite_master m";

bool is_plain(const Statement& row) {
  const std::string sql = row.text(2);
  return row.flag(3) && has_plain_characters(sql) && !has_active_word(sql);
}

}  // namespace

void refuse_active_schema(Database& database) {
  constexpr std::size_t kMostShown = 60;
  Statement rows = database.prepare(kSchema);
  while (rows.step()) {
    if (!is_plain(rows)) {
      throw Error(ExitCode::bad_file,
                  fmt::format("the database is not as fatune made it: the {} '{}' could run code",
                              visible_text(rows.text(0), kMostShown),
                              visible_text(rows.text(1), kMostShown)),
                  database.path().string(),
                  "do not use it: all that fatune makes is tables and indexes of plain columns");
    }
  }
}

}  // namespace fatune
