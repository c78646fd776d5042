#include "store/schema.hpp"

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
  for (const int format : {3, 99}) {
    database_.execute(
        fmt::format("CREATE TABLE IF NOT EXISTS devices (id INTEGER PRIMARY KEY);"
                    "PRAGMA application_id = 1178686549; PRAGMA user_version = {}",
                    format));
    expect_store_error([&] { (void)open(); }, ExitCode::bad_file,
                       {path_.string(), fmt::format("has format {}", format),
                        "reads and writes format 5", "fatune export --run", "--db"});
    EXPECT_EQ(database_.value("SELECT count(*) FROM sqlite_master"), 1);
  }
}

TEST_F(Schema, ADatabaseOfAnotherProgramIsRefusedAndLeftAlone) {
  database_.execute("CREATE TABLE bookmarks (url TEXT)");
  expect_store_error([&] { make_schema(database_); }, ExitCode::bad_file, {"another program"});
  EXPECT_EQ(database_.value("SELECT count(*) FROM sqlite_master"), 1);
}

}  // namespace
}  // namespace fatune
