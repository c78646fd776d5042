#include "store/schema.hpp"

#include <array>

#include "unit/store/store_folder.hpp"

namespace fatune {
namespace {

void make_1(Database& database) {
  database.execute("CREATE TABLE a (x INTEGER); INSERT INTO a VALUES (41);");
}
void make_2(Database& database) {
  database.execute("CREATE TABLE a (x INTEGER, y INTEGER); INSERT INTO a VALUES (51, 52);");
}
void to_2(Database& database) {
  database.execute("ALTER TABLE a ADD COLUMN y INTEGER; UPDATE a SET y = x + 1;");
}
void fail(Database& database) {
  database.execute("UPDATE a SET x = 0; CREATE TABLE a (z INTEGER);");
}

constexpr std::array<SchemaStep, 1> kTo2{to_2};
constexpr std::array<SchemaStep, 1> kFails{fail};
constexpr SchemaVersions kVersion1{make_1, {}};
constexpr SchemaVersions kVersion2{make_2, kTo2};

class Schema : public StoreFolder {
 protected:
  Database database_{path_, Database::Mode::create, std::chrono::milliseconds(100)};
};

TEST_F(Schema, AnEmptyFileGetsTheLatestVersion) {
  migrate(database_, schema_versions());
  EXPECT_EQ(database_.value("PRAGMA user_version"), 4);
  EXPECT_EQ(database_.value("SELECT count(*) FROM outcomes"), 0);
}

TEST_F(Schema, AnOlderVersionIsMigratedWithItsData) {
  migrate(database_, kVersion1);
  migrate(database_, kVersion2);
  EXPECT_EQ(database_.value("SELECT y FROM a"), 42);
  EXPECT_EQ(database_.value("PRAGMA user_version"), 2);
}

TEST_F(Schema, ACurrentVersionIsLeftAlone) {
  migrate(database_, kVersion1);
  migrate(database_, kVersion1);
  EXPECT_EQ(database_.value("SELECT count(*) FROM a"), 1);
}

TEST_F(Schema, AMigrationThatFailsLeavesTheOldVersion) {
  migrate(database_, kVersion1);
  EXPECT_THROW(migrate(database_, {make_2, kFails}), Error);
  EXPECT_EQ(database_.value("SELECT x FROM a"), 41);
  EXPECT_EQ(database_.value("PRAGMA user_version"), 1);
}

TEST_F(Schema, ANewerVersionIsRefused) {
  migrate(database_, kVersion2);
  EXPECT_EQ(database_.value("SELECT y FROM a"), 52);
  expect_store_error([&] { migrate(database_, kVersion1); }, ExitCode::bad_file,
                     {path_.string(), "schema version 2", "knows up to 1", "--db"});
}

TEST_F(Schema, ADatabaseOfAnotherProgramIsRefusedAndLeftAlone) {
  database_.execute("CREATE TABLE bookmarks (url TEXT)");
  expect_store_error([&] { migrate(database_, schema_versions()); }, ExitCode::bad_file,
                     {"another program"});
  EXPECT_EQ(database_.value("SELECT count(*) FROM sqlite_master"), 1);
}

}  // namespace
}  // namespace fatune
