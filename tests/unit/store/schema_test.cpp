#include "store/open_store.hpp"

#include <fmt/format.h>

#include "unit/store/store_folder.hpp"

namespace fatune {
namespace {

class Schema : public StoreFolder {
 protected:
  Database database_{path_, Database::Mode::create, std::chrono::milliseconds(100)};
};

TEST_F(Schema, AnEmptyFileGetsItsTablesOnce) {
  EXPECT_FALSE(has_schema(database_));
  make_schema(database_);
  EXPECT_TRUE(has_schema(database_));
  make_schema(database_);
  EXPECT_EQ(database_.value("SELECT count(*) FROM outcomes"), 0);
}

TEST_F(Schema, AnEarlierOrLaterFormatIsRefusedAndLeftAlone) {
  for (const int format : {5, 99}) {
    database_.execute(
        fmt::format("CREATE TABLE IF NOT EXISTS devices (id INTEGER PRIMARY KEY);"
                    "PRAGMA application_id = 1178686549; PRAGMA user_version = {}",
                    format));
    expect_store_error([&] { (void)open(); }, ExitCode::bad_file,
                       {path_.string(), fmt::format("has format {}", format),
                        "reads and writes format 6", "fatune export --run", "--db"});
    EXPECT_EQ(database_.value("SELECT count(*) FROM sqlite_master"), 1);
  }
}

TEST_F(Schema, ADatabaseOfAnotherProgramIsRefusedAndLeftAlone) {
  database_.execute("CREATE TABLE bookmarks (url TEXT)");
  expect_store_error([&] { make_schema(database_); }, ExitCode::bad_file, {"another program"});
  EXPECT_EQ(database_.value("SELECT count(*) FROM sqlite_master"), 1);
}

class PlainSchema : public StoreFolder {
 protected:
  /// Adds to a new store.
  void add(const char* sql) const { open().execute(sql); }
};

class Active : public PlainSchema, public testing::WithParamInterface<const char*> {};

TEST_P(Active, IsRefusedByReadersAndWriters) {
  add(GetParam());
  for (const auto mode : {Database::Mode::existing, Database::Mode::create}) {
    expect_store_error([&] { (void)open_store(path_, mode); }, ExitCode::bad_file,
                       {path_.string(), "could run code", "do not use it"});
  }
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, Active,
    testing::Values(
        "ALTER TABLE runs RENAME TO r; CREATE VIEW runs AS WITH RECURSIVE c(x) AS (SELECT 1 UNION "
        "ALL SELECT x + 1 FROM c) SELECT r.* FROM r, c WHERE c.x < 0",
        "CREATE TRIGGER t AFTER INSERT ON runs BEGIN SELECT 1; END",
        "ALTER TABLE runs ADD COLUMN g INTEGER AS (id + 1)",
        "ALTER TABLE runs ADD COLUMN g INTEGER GENERATED ALWAYS AS (abs(id))",
        "CREATE TABLE q (a INTEGER, CHECK (abs(a)))", "CREATE TABLE q (a DEFAULT (abs(1)))",
        "CREATE TABLE q (a DEFAULT /* b */ (abs(1)))", "CREATE TABLE q (a DEFAULT -- b\n (abs(1)))",
        "CREATE INDEX i ON runs (id + 1)", "CREATE INDEX i ON runs (abs(id))",
        "CREATE INDEX i ON runs (plan LIKE conditions)", "CREATE INDEX i ON runs (id) WHERE id"));

TEST_F(PlainSchema, PlainTablesOfOthersAreNotInTheWay) {
  add("CREATE TABLE notes (\"has a name\" TEXT DEFAULT '', n INTEGER NOT NULL DEFAULT 0, "
      "PRIMARY KEY (n)) WITHOUT ROWID; CREATE UNIQUE INDEX i ON notes (n, \"has a name\" DESC)");
  EXPECT_EQ(open_store(path_, Database::Mode::existing).value("SELECT count(*) FROM runs"), 0);
}

/// The statement stands for a damaged file in which pages are children of each other.
TEST_F(PlainSchema, ReadingTakesABoundedNumberOfSteps) {
  (void)open();
  Database database = open_store(path_, Database::Mode::existing);
  expect_store_error(
      [&] {
        (void)database.value(
            "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT max(x) FROM c");
      },
      ExitCode::bad_file, {path_.string(), "far longer than its size explains"});
}

}  // namespace
}  // namespace fatune
