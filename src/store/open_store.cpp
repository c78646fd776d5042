#include "store/open_store.hpp"

#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <string>
#include <system_error>
#include <thread>

#include <fmt/format.h>

#include "base/environment.hpp"
#include "base/error.hpp"
#include "base/ranges.hpp"
#include "base/text_parts.hpp"

namespace fatune {
namespace {

/// PRAGMA user_version of this schema. A change of the tables or of the records in them raises it.
constexpr std::int64_t kVersion = 6;
constexpr std::int64_t kApplicationId = 0x46415455;  // "FATU"; PRAGMA application_id

constexpr const char* kSchemaTables = R"sql(
CREATE TABLE runs (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  complete INTEGER NOT NULL DEFAULT 0,
  anew INTEGER NOT NULL,
  conditions TEXT NOT NULL,
  plan TEXT NOT NULL,
  baseline TEXT,
  header TEXT NOT NULL
);
CREATE TABLE run_problems (
  id INTEGER PRIMARY KEY,
  run INTEGER NOT NULL REFERENCES runs,
  problem TEXT NOT NULL,
  repetition INTEGER NOT NULL,
  ranked INTEGER NOT NULL DEFAULT 0,
  finished INTEGER NOT NULL DEFAULT 0,
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
  PRIMARY KEY (run_problem, seq)
) WITHOUT ROWID;
CREATE INDEX runs_by_plan ON runs (plan);
CREATE INDEX run_problems_by_run ON run_problems (run);
CREATE INDEX outcomes_by_problem ON outcomes (run_problem);
CREATE INDEX outcomes_by_artifact ON outcomes (artifact_key);
)sql";

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

/// The path itself, or its nearest parent folder that exists.
fs::path nearest(const fs::path& path) {
  std::error_code error;
  fs::path there = fs::absolute(path, error);
  while (!fs::exists(there, error) && there != there.parent_path()) {
    there = there.parent_path();
  }
  return there;
}

/// The type of a device's file system, from /proc/self/mountinfo. Empty if it is not listed.
/// Source: proc(5).
std::string mount_type(dev_t device) {
  const std::string number = fmt::format(" {}:{} ", major(device), minor(device));
  std::ifstream mounts("/proc/self/mountinfo");
  for (std::string line; std::getline(mounts, line);) {
    const std::size_t end = line.find(" - ");
    if (line.find(number) < line.find('/') && end != line.npos) {
      return std::string(between(std::string_view(line).substr(end), " - ", " "));
    }
  }
  return {};
}

/// Throws Error(io) with advice if the file is, or would be, on a network file system. Does nothing
/// if the environment variable FATUNE_NETWORK_DB is set.
void refuse_network_file(const fs::path& path) {
  struct stat file {};
  if (environment_variable("FATUNE_NETWORK_DB") || ::stat(nearest(path).c_str(), &file) != 0) {
    return;
  }
  const std::string type = mount_type(file.st_dev);
  if (is_network_file_system(type)) {
    throw Error(ExitCode::io,
                fmt::format("a database on a network file system ({}) is damaged as soon as two "
                            "machines use it",
                            type),
                path.string(),
                "name a file on a local disk with --db, and join such files with 'fatune merge'; "
                "with FATUNE_NETWORK_DB=1 it is used anyway");
  }
}

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

bool has_schema(Database& database) {
  const bool empty = database.value("SELECT count(*) FROM sqlite_master") == 0;
  if (!empty && database.value("PRAGMA application_id") != kApplicationId) {
    throw Error(ExitCode::bad_file, "this database belongs to another program",
                database.path().string(), "name another file with --db");
  }
  const std::int64_t version = database.value("PRAGMA user_version");
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

bool is_network_file_system(std::string_view mount_type) {
  constexpr std::array<std::string_view, 23> kTypes{
      "afs",          "beegfs",         "ceph",        "cifs",         "coda",
      "fuse.ceph",    "fuse.ceph-fuse", "fuse.davfs",  "fuse.gcsfuse", "fuse.glusterfs",
      "fuse.juicefs", "fuse.nfs",       "fuse.rclone", "fuse.s3fs",    "fuse.sshfs",
      "gpfs",         "ibrix",          "lustre",      "nfs",          "nfs4",
      "panfs",        "pvfs2",          "smb3"};
  return is_among(mount_type, kTypes);
}

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
