// Database files that cannot be used.
#include "store/database.hpp"

#include <sys/stat.h>
#include <sys/wait.h>
#include <cstdio>

#include <cstdlib>
#include <fstream>

#include "store/run_writer.hpp"
#include "unit/store/run_samples.hpp"
#include "unit/store/store_folder.hpp"

namespace fatune {
namespace {

namespace fs = std::filesystem;

class DatabaseFiles : public StoreFolder {
 protected:
  void write(const std::string& bytes) const {
    fs::create_directories(path_.parent_path());
    std::ofstream(path_, std::ios::binary) << bytes;
  }
};

TEST_F(DatabaseFiles, GarbageIsNamed) {
  write(std::string(10000, 'x'));
  expect_store_error([&] { (void)open(); }, ExitCode::bad_file,
                     {path_.string(), "not a SQLite database", "--no-db"});
}

TEST_F(DatabaseFiles, ATruncatedFileIsNamed) {
  {
    Database database = open();
    RunWriter writer(database, sample_run());
  }
  fs::resize_file(path_, fs::file_size(path_) / 2);
  expect_store_error([&] { (void)open(); }, ExitCode::bad_file, {path_.string(), "damaged"});
}

TEST_F(DatabaseFiles, AFolderInItsPlaceIsNamed) {
  fs::create_directories(path_);
  expect_store_error([&] { (void)open(); }, ExitCode::io, {path_.string(), "cannot use"});
}

TEST_F(DatabaseFiles, AFolderThatCannotBeMadeIsNamed) {
  std::ofstream(folder_ / "sub") << "a file";
  expect_store_error([&] { (void)open(); }, ExitCode::io, {path_.string(), "folder"});
}

TEST_F(DatabaseFiles, AMissingFileIsNotMadeByAReader) {
  expect_store_error([&] { (void)open_store(path_, Database::Mode::existing); }, ExitCode::bad_file,
                     {path_.string(), "no such database"});
  EXPECT_FALSE(fs::exists(path_));
}

TEST_F(DatabaseFiles, AnEmptyFileIsReadAndStaysEmpty) {
  write("");
  Database database = open_store(path_, Database::Mode::existing);
  EXPECT_EQ(database.value("SELECT count(*) FROM runs"), 0);
  EXPECT_EQ(fs::file_size(path_), 0U);
}

TEST_F(DatabaseFiles, ANamedPipeIsNotWaitedFor) {
  write("");
  fs::remove(path_);
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  for (const auto mode : {Database::Mode::existing, Database::Mode::create}) {
    expect_store_error([&] { (void)open_store(path_, mode); }, ExitCode::io,
                       {path_.string(), "not a file"});
  }
}

TEST_F(DatabaseFiles, ANameIsNeverAUri) {
  const fs::path before = fs::current_path();
  fs::current_path(folder_);
  (void)open_store("file:a.db?mode=memory", Database::Mode::create);
  EXPECT_TRUE(fs::exists("file:a.db?mode=memory"));
  expect_store_error([] { Database(":memory:", Database::Mode::create, kBusyTimeout); },
                     ExitCode::usage, {"':memory:' is not a file"});
  fs::current_path(before);
}

TEST_F(DatabaseFiles, ALockOfAnotherProcessIsNamed) {
  Database holder = open();
  Database other = open_store(path_, Database::Mode::create, std::chrono::milliseconds(20));
  const Transaction lock(holder);
  expect_store_error([&] { RunWriter(other, sample_run()); }, ExitCode::io,
                     {path_.string(), "locked"});
}

TEST_F(DatabaseFiles, AFullDiskIsNamedAndWhatWasStoredStays) {
  Database database = open();
  RunWriter writer(database, sample_run());
  writer.begin_problem(sample_problem());
  database.execute("PRAGMA max_page_count = 1");  // SQLite keeps it at the present size
  const auto fill = [&] {
    for (int i = 0; i < 10000; ++i) {
      writer.add(sample_result(i, Crashed{std::string(1000, 'x')}), tried());
    }
  };
  expect_store_error(fill, ExitCode::io, {path_.string(), "no space"});
  EXPECT_EQ(database.value("SELECT count(*) FROM runs"), 1);
}

TEST_F(DatabaseFiles, ATransactionThatIsNotCommittedLeavesNothing) {
  Database database = open();
  {
    database.execute("PRAGMA foreign_keys = OFF");
    const Transaction transaction(database);
    database.execute("INSERT INTO samples VALUES (1, 2, 3)");
  }
  EXPECT_EQ(database.value("SELECT count(*) FROM samples"), 0);
}

TEST_F(DatabaseFiles, ATransactionWithinAnotherIsAPartOfIt) {
  Database database = open();
  {
    const Transaction outer(database);
    RunWriter writer(database, sample_run());
    writer.begin_problem(sample_problem());
    EXPECT_EQ(database.value("SELECT count(*) FROM runs"), 1);
  }
  EXPECT_EQ(database.value("SELECT count(*) FROM runs"), 0);
  EXPECT_FALSE(database.in_transaction());
}

int add_many(const fs::path& path, int count) {
  try {
    Database database = open_store(path, Database::Mode::create);
    RunWriter writer(database, sample_run());
    writer.begin_problem(sample_problem());
    for (int i = 0; i < count; ++i) {
      writer.add(sample_result(i, sample_measurement(100.0)), tried());
    }
    return 0;
  } catch (const Error& error) {
    std::fputs(error.what(), stderr);
    return 1;
  }
}

TEST_F(DatabaseFiles, TwoProcessesWriteAtOnce) {
  constexpr int kOutcomes = 50;
  const pid_t child = ::fork();
  if (child == 0) {
    std::_Exit(add_many(path_, kOutcomes));
  }
  EXPECT_EQ(add_many(path_, kOutcomes), 0);
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  Database database = open();
  EXPECT_EQ(database.value("SELECT count(*) FROM outcomes"), 2 * kOutcomes);
  EXPECT_EQ(database.value("SELECT count(*) FROM samples"), 6 * kOutcomes);
}

}  // namespace
}  // namespace fatune
