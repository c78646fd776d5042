#include "store/schema.hpp"

#include <array>

#include "unit/store/store_folder.hpp"

namespace fatune {
namespace {

constexpr SchemaStep kStep1{"CREATE TABLE a (x INTEGER); INSERT INTO a VALUES (41);"};
constexpr SchemaStep kStep2{"ALTER TABLE a ADD COLUMN y INTEGER; UPDATE a SET y = x + 1;"};
constexpr SchemaStep kWrongStep{"UPDATE a SET x = 0; CREATE TABLE a (z INTEGER);"};

class Schema : public StoreFolder {
 protected:
  Database database_{path_, Database::Mode::create, std::chrono::milliseconds(100)};
};

TEST_F(Schema, AnEmptyFileGetsTheLatestVersion) {
  migrate(database_, schema_steps());
  EXPECT_EQ(database_.value("PRAGMA user_version"),
            static_cast<std::int64_t>(schema_steps().size()));
  EXPECT_EQ(database_.value("SELECT count(*) FROM outcomes"), 0);
}

TEST_F(Schema, AnOlderVersionIsMigratedWithItsData) {
  migrate(database_, std::array{kStep1});
  migrate(database_, std::array{kStep1, kStep2});
  EXPECT_EQ(database_.value("SELECT y FROM a"), 42);
  EXPECT_EQ(database_.value("PRAGMA user_version"), 2);
}

TEST_F(Schema, ACurrentVersionIsLeftAlone) {
  migrate(database_, std::array{kStep1});
  migrate(database_, std::array{kStep1});
  EXPECT_EQ(database_.value("SELECT count(*) FROM a"), 1);
}

TEST_F(Schema, AMigrationThatFailsLeavesTheOldVersion) {
  migrate(database_, std::array{kStep1});
  EXPECT_THROW(migrate(database_, std::array{kStep1, kWrongStep}), Error);
  EXPECT_EQ(database_.value("SELECT x FROM a"), 41);
  EXPECT_EQ(database_.value("PRAGMA user_version"), 1);
}

TEST_F(Schema, ANewerVersionIsRefused) {
  migrate(database_, std::array{kStep1, kStep2});
  expect_store_error([&] { migrate(database_, std::array{kStep1}); }, ExitCode::bad_file,
                     {path_.string(), "schema version 2", "knows up to 1", "--db"});
}

TEST_F(Schema, ADatabaseOfAnotherProgramIsRefusedAndLeftAlone) {
  database_.execute("CREATE TABLE bookmarks (url TEXT)");
  expect_store_error([&] { migrate(database_, schema_steps()); }, ExitCode::bad_file,
                     {"another program"});
  EXPECT_EQ(database_.value("SELECT count(*) FROM sqlite_master"), 1);
}

}  // namespace
}  // namespace fatune
