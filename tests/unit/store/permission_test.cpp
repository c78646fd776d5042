// Files and folders that may not be written, accessed by a user other than root.
#include <sys/wait.h>

#include <cstdlib>
#include <iostream>
#include <stdexcept>

#include "store/run_reader.hpp"
#include "store/run_writer.hpp"
#include "unit/store/run_samples.hpp"
#include "unit/store/store_folder.hpp"

namespace fatune {
namespace {

namespace fs = std::filesystem;

constexpr int kDone = 2;

/// Runs `action` in a process without root's rights. Returns 0 if it throws an Error(io) whose
/// message has `part`, and kDone if it throws nothing.
template <typename Action>
int as_nobody(const std::string& part, Action action) {
  constexpr uid_t kNobody = 65534;
  const pid_t child = ::fork();
  if (child == 0) {
    if (::geteuid() == 0 && ::setuid(kNobody) != 0) {
      std::_Exit(3);
    }
    try {
      action();
      std::_Exit(kDone);
    } catch (const Error& error) {
      std::cerr << error.what() << '\n';
      const bool named = std::string(error.what()).find(part) != std::string::npos;
      std::_Exit(error.code() == ExitCode::io && named ? 0 : 1);
    }
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

class Permissions : public StoreFolder {
 protected:
  Permissions() {
    Database database = open();
    const RunWriter writer(database, sample_run());
  }
  ~Permissions() override { fs::permissions(path_.parent_path(), fs::perms::owner_all); }

  void forbid_writing(const fs::path& path) const {
    fs::permissions(path, fs::perms::owner_write | fs::perms::group_write | fs::perms::others_write,
                    fs::perm_options::remove);
  }
  void write_run() const {
    Database database = open();
    const RunWriter writer(database, sample_run());
  }
};

TEST_F(Permissions, AReadOnlyFileIsNamed) {
  forbid_writing(path_);
  EXPECT_EQ(as_nobody(path_.string(), [&] { write_run(); }), 0);
}

TEST_F(Permissions, AReadOnlyFolderIsNamed) {
  forbid_writing(path_.parent_path());
  EXPECT_EQ(as_nobody(path_.string(), [&] { write_run(); }), 0);
}

TEST_F(Permissions, AReadOnlyFolderWithoutADatabaseIsNamed) {
  fs::remove(path_);
  forbid_writing(path_.parent_path());
  EXPECT_EQ(as_nobody(path_.string(), [&] { write_run(); }), 0);
}

TEST_F(Permissions, AFileThatMayNotBeReadIsNamed) {
  fs::permissions(path_, fs::perms::none);
  EXPECT_EQ(as_nobody(path_.string(), [&] { write_run(); }), 0);
}

// --- Reading ---

class ReadOnlyStores : public Permissions {
 protected:
  void expect_runs(std::size_t runs) const {
    const int code = as_nobody("", [&] {
      Database database = open_store(path_, Database::Mode::existing);
      if (list_runs(database).runs.size() != runs) {
        throw std::runtime_error("other runs");
      }
    });
    EXPECT_EQ(code, kDone);
  }
  [[nodiscard]] std::vector<std::string> names_in_folder() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(path_.parent_path())) {
      names.push_back(entry.path().filename().string());
    }
    return names;
  }
};

TEST_F(ReadOnlyStores, AFileThatMayNotBeWrittenIsRead) {
  forbid_writing(path_);
  expect_runs(1);
}

TEST_F(ReadOnlyStores, AFileInAFolderThatMayNotBeWrittenIsRead) {
  forbid_writing(path_);
  forbid_writing(path_.parent_path());
  expect_runs(1);
  EXPECT_THAT(names_in_folder(), testing::ElementsAre("fatune.db"));
}

TEST_F(ReadOnlyStores, AFileThatIsBeingWrittenIsRead) {
  Database writer = open();
  const RunWriter second(writer, sample_run());
  forbid_writing(path_.parent_path());
  expect_runs(2);
}

/// The log of a killed process, copied without the index that SQLite rebuilds beside it.
TEST_F(ReadOnlyStores, TheLogOfAKilledProcessIsReadToo) {
  const fs::path copied = folder_ / "copied.db";
  {
    Database writer = open();
    const RunWriter second(writer, sample_run());
    fs::copy_file(path_, copied);
    fs::copy_file(path_.string() + "-wal", copied.string() + "-wal");
  }
  fs::rename(copied, path_);
  fs::rename(copied.string() + "-wal", path_.string() + "-wal");
  forbid_writing(path_);
  forbid_writing(path_.parent_path());
  expect_runs(2);
}

TEST_F(ReadOnlyStores, WritersAreToldWhatTheyMayNotDo) {
  fs::permissions(path_, fs::perms::group_write | fs::perms::others_write, fs::perm_options::add);
  forbid_writing(path_.parent_path());
  EXPECT_EQ(as_nobody("its folder, in which SQLite keeps files", [&] { write_run(); }), 0);
  forbid_writing(path_);
  EXPECT_EQ(as_nobody("it may be read, but not written", [&] { write_run(); }), 0);
}

}  // namespace
}  // namespace fatune
