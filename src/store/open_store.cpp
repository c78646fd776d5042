#include "store/open_store.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <system_error>
#include <thread>

#include <fmt/format.h>

#include "core/environment.hpp"
#include "store/network_file_system.hpp"
#include "store/schema.hpp"

namespace fatune {
namespace {

namespace fs = std::filesystem;

/// Larger files are not checked as a whole, because that would read the whole file at every start.
/// Only the rows that are read are checked.
constexpr std::uintmax_t kMostCheckedBytes = std::uintmax_t{64} << 20;

void check_whole(Database& database) {
  std::error_code error;
  const std::uintmax_t bytes = fs::file_size(database.path(), error);
  if (error || bytes > kMostCheckedBytes) {
    return;
  }
  Statement check = database.prepare("PRAGMA quick_check(1)");
  std::string found = check.step() ? check.text(0) : "ok";
  if (found != "ok") {
    std::ranges::replace(found, '\n', ' ');
    database.fail_damaged(found);
  }
}

}  // namespace

std::optional<fs::path> default_store_path() {
  constexpr const char* kFile = "fatune/fatune.db";
  const auto folder = xdg_folder("XDG_DATA_HOME", ".local/share");
  return folder ? std::optional(*folder / kFile) : std::nullopt;
}

void check_store_file(const fs::path& path) {
  refuse_no_file(path);
  refuse_network_file(path);
}

std::filesystem::path store_path(const std::optional<std::filesystem::path>& named) {
  const auto path = named ? named : default_store_path();
  if (!path) {
    throw Error(ExitCode::io, "no location for the database is known",
                "neither XDG_DATA_HOME nor HOME is set", "name a file with --db");
  }
  return *path;
}

namespace {

/// Waits for other processes that open the file for the first time: SQLite itself does not wait
/// when it changes the journal mode.
void use_write_ahead_log(Database& database, std::chrono::milliseconds busy_timeout) {
  constexpr std::chrono::milliseconds kPause{10};
  const auto deadline = std::chrono::steady_clock::now() + busy_timeout;
  while (true) {
    try {
      return database.execute("PRAGMA journal_mode = WAL");
    } catch (const DatabaseLocked&) {
      if (std::chrono::steady_clock::now() >= deadline) {
        throw;
      }
      std::this_thread::sleep_for(kPause);
    }
  }
}

}  // namespace

Database open_store(const fs::path& path, Database::Mode mode,
                    std::chrono::milliseconds busy_timeout) {
  if (mode == Database::Mode::create) {
    refuse_network_file(path);
  }
  Database database(path, mode, busy_timeout);
  check_whole(database);
  if (!has_schema(database)) {
    if (mode == Database::Mode::existing) {  // reading makes no tables in an empty file
      database.move_to_memory();
    }
    make_schema(database);
  }
  if (mode == Database::Mode::create) {
    use_write_ahead_log(database, busy_timeout);
  }
  // After a power cut, NORMAL may lose the last transactions; after a kill, it loses nothing.
  database.execute("PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON");
  return database;
}

}  // namespace fatune
