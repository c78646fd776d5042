// Files and folders that may not be written, accessed by a user other than root.
#include <sys/wait.h>

#include <cstdlib>
#include <iostream>

#include "store/run_writer.hpp"
#include "unit/store/run_samples.hpp"
#include "unit/store/store_folder.hpp"

namespace fatune {
namespace {

namespace fs = std::filesystem;

/// Runs `action` in a process without root's rights. Returns 0 if it throws an Error(io) that names
/// `path`.
template <typename Action>
int as_nobody(const fs::path& path, Action action) {
  constexpr uid_t kNobody = 65534;
  const pid_t child = ::fork();
  if (child == 0) {
    if (::geteuid() == 0 && ::setuid(kNobody) != 0) {
      std::_Exit(3);
    }
    try {
      action();
      std::_Exit(2);
    } catch (const Error& error) {
      std::cerr << error.what() << '\n';
      const bool named = std::string(error.what()).find(path.string()) != std::string::npos;
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
  EXPECT_EQ(as_nobody(path_, [&] { write_run(); }), 0);
}

TEST_F(Permissions, AReadOnlyFolderIsNamed) {
  forbid_writing(path_.parent_path());
  EXPECT_EQ(as_nobody(path_, [&] { write_run(); }), 0);
}

TEST_F(Permissions, AReadOnlyFolderWithoutADatabaseIsNamed) {
  fs::remove(path_);
  forbid_writing(path_.parent_path());
  EXPECT_EQ(as_nobody(path_, [&] { write_run(); }), 0);
}

TEST_F(Permissions, AFileThatMayNotBeReadIsNamed) {
  fs::permissions(path_, fs::perms::none);
  EXPECT_EQ(as_nobody(path_, [&] { write_run(); }), 0);
}

}  // namespace
}  // namespace fatune
