#include "store/database.hpp"

#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <system_error>
#include <utility>

#include <SQLiteCpp/Backup.h>
#include <SQLiteCpp/Column.h>
#include <fmt/format.h>

#include "base/text_parts.hpp"
#include "base/visible_text.hpp"

namespace fatune {
namespace {

namespace fs = std::filesystem;

constexpr const char* kRepair =
    "move the file away, or name another with --db; --no-db works without a database";

constexpr int kPrimaryCode = 0xff;

fs::path folder_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

/// Says what the user may not do with the file, else what SQLite says.
std::string why_unusable(const fs::path& path, const std::string& message) {
  std::error_code ignored;
  if (fs::exists(path, ignored) && ::access(path.c_str(), R_OK) != 0) {
    return fmt::format("it may not be read ({})", std::strerror(errno));
  }
  if (fs::exists(path, ignored) && ::access(path.c_str(), W_OK) != 0) {
    return fmt::format("it may be read, but not written ({})", std::strerror(errno));
  }
  if (::access(folder_of(path).c_str(), W_OK) != 0) {
    return fmt::format("its folder, in which SQLite keeps files beside it, may not be written ({})",
                       std::strerror(errno));
  }
  return message;
}

Error unusable(const std::string& why, const fs::path& path) {
  return {ExitCode::io, fmt::format("cannot use the database: {}", why), path.string(),
          "check the folder's permissions and its disk, or name another file with --db"};
}

Error database_error(int code, const std::string& message, const fs::path& path) {
  if (code == SQLITE_READONLY_ROLLBACK) {
    return unusable("a write that was interrupted must be undone first, by a user who may write it",
                    path);
  }
  switch (code & kPrimaryCode) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return {ExitCode::io, "another process keeps the database locked", path.string(),
              "wait for it to end, or name another file with --db"};
    case SQLITE_NOTADB:
      return {ExitCode::bad_file, "this is not a SQLite database", path.string(), kRepair};
    case SQLITE_CORRUPT:
      return {ExitCode::bad_file, fmt::format("the database is damaged ({})", message),
              path.string(), kRepair};
    case SQLITE_ERROR:  // a missing table or column
      return {ExitCode::bad_file,
              fmt::format("the database is not as fatune made it ({})", message), path.string(),
              kRepair};
    case SQLITE_FULL:
      return {ExitCode::io, "no space is left for the database", path.string(),
              "free some space, or name a file elsewhere with --db"};
    case SQLITE_INTERRUPT:  // spend() interrupts it
      return {ExitCode::bad_file, "reading the database takes far longer than its size explains",
              path.string(), kRepair};
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
      return unusable(why_unusable(path, message), path);
    default:
      return unusable(message, path);
  }
}

void make_folder_of(const fs::path& path) {
  std::error_code error;
  if (path.has_parent_path()) {
    fs::create_directories(path.parent_path(), error);
  }
  if (error) {
    throw Error(ExitCode::io, "cannot create the database's folder: " + error.message(),
                path.string(), "name another file with --db; --no-db works without a database");
  }
}

void check_there(const fs::path& path) {
  std::error_code ignored;
  if (!fs::exists(path, ignored)) {
    throw Error(ExitCode::bad_file, "there is no such database", path.string(),
                "'fatune sweep' and 'fatune run' create one when they measure");
  }
}

/// Opening a FIFO would wait for its writer.
void check_file_or_nothing(const fs::path& path) {
  std::error_code ignored;
  const fs::file_type type = fs::status(path, ignored).type();
  if (type != fs::file_type::regular && type != fs::file_type::not_found &&
      type != fs::file_type::none) {
    throw unusable("it is not a file", path);
  }
}

std::uintmax_t bytes_of(const fs::path& path) {
  std::error_code error;
  const std::uintmax_t bytes = fs::file_size(path, error);
  return error ? 0 : bytes;
}

/// The file as SQLite opens it: an absolute path is never a URI.
fs::path plain_name(const fs::path& path) {
  std::error_code error;
  const fs::path whole = fs::absolute(path, error);
  const fs::path name = error ? path : fs::weakly_canonical(whole, error);
  return error ? path : name;
}

/// The URI of a file. Source: https://www.sqlite.org/uri.html
std::string uri_of(const fs::path& file) {
  std::string uri = "file:";
  for (const char c : file.string()) {
    uri += c == '%' || c == '?' || c == '#' ? fmt::format("%{:02X}", c) : std::string(1, c);
  }
  return uri;
}

/// Lets nothing that is in the file run, because the file may come from anyone.
void distrust(sqlite3* connection) {
  constexpr std::array<std::pair<int, int>, 4> kSettings{{{SQLITE_DBCONFIG_DEFENSIVE, 1},
                                                          {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
                                                          {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
                                                          {SQLITE_DBCONFIG_ENABLE_VIEW, 0}}};
  for (const auto& [setting, value] : kSettings) {
    sqlite3_db_config(connection, setting, value, static_cast<int*>(nullptr));
  }
}

constexpr int kStepsAtOnce = 1 << 20;

/// SQLite calls this after each kStepsAtOnce steps. Ends the statement when none are left.
int spend(void* left) { return --*static_cast<std::int64_t*>(left) < 0 ? 1 : 0; }

/// More steps, by far, than reading a file of this size takes (a merge takes 0.15 for a byte of a
/// store), in units of kStepsAtOnce. A damaged or malicious file could take steps without end.
std::int64_t most_steps(const fs::path& path) {
  constexpr std::uintmax_t kStepsForAny = std::uintmax_t{1} << 27;
  constexpr std::uintmax_t kStepsForByte = 100;
  return static_cast<std::int64_t>((kStepsForAny + bytes_of(path) * kStepsForByte) / kStepsAtOnce);
}

/// Every view, trigger, virtual table, generated column, check and condition of an index has one of
/// these words. No table or index of fatune has one.
constexpr std::array<std::string_view, 7> kActiveWords{"AS",   "CHECK",   "GENERATED", "TRIGGER",
                                                       "VIEW", "VIRTUAL", "WHERE"};
/// No operator and no comment can be made of these characters.
constexpr std::string_view kPlainMarks = "_ \t\n,\"'()";

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

/// Throws Error(bad_file) unless the database has only tables and indexes of plain columns. Views,
/// triggers, virtual tables and expressions (generated columns, checks, conditions of indexes) are
/// code of whoever made the file, which could run without end.
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

}  // namespace

void refuse_no_file(const fs::path& path) {
  if (path.empty() || path == ":memory:") {
    throw Error(ExitCode::usage,
                fmt::format("'{}' is not a file: nothing would be kept", path.string()), "--db",
                "name a file, or store nothing with --no-db");
  }
}

Statement::Statement(const Database& database, const std::string& sql) try
    : database_(&database), statement_(*database.connection_, sql) {
} catch (const SQLite::Exception&) {
  database.fail();
}

void Statement::fail() const { database_->fail(); }

bool Statement::step() {
  const int code = statement_.tryExecuteStep();
  if (code != SQLITE_ROW && code != SQLITE_DONE) {
    fail();
  }
  return code == SQLITE_ROW;
}

std::vector<std::int64_t> Statement::integers() {
  std::vector<std::int64_t> values;
  while (step()) {
    values.push_back(integer(0));
  }
  return values;
}

Statement& Statement::bind_row(const Statement& row) {
  for (int i = 0; i < row.columns(); ++i) {
    const SQLite::Column value = row.column(i);
    if (value.isNull()) {
      statement_.bind(i + 1);
    } else if (value.isInteger()) {
      bind_at(i + 1, value.getInt64());
    } else if (value.isFloat()) {
      bind_at(i + 1, value.getDouble());
    } else {  // fatune writes no blobs, and reads a blob as text
      bind_at(i + 1, value.getString());
    }
  }
  return *this;
}

Database::Database(fs::path path, Mode mode, std::chrono::milliseconds busy_timeout)
    : path_(std::move(path)), busy_timeout_(busy_timeout) {
  refuse_no_file(path_);
  mode == Mode::create ? make_folder_of(path_) : check_there(path_);
  check_file_or_nothing(path_);
  if (mode == Mode::existing) {
    steps_left_ = std::make_unique<std::int64_t>(most_steps(path_));
  }
  open(plain_name(path_), SQLITE_OPEN_READWRITE | (mode == Mode::create ? SQLITE_OPEN_CREATE : 0));
  if (mode == Mode::existing && !can_begin()) {
    open_as_it_is();
  }
  refuse_active_schema(*this);
}

void Database::open(const std::string& name, int flags, const char* vfs) {
  try {
    connection_ = std::make_unique<SQLite::Database>(name.c_str(), flags | SQLITE_OPEN_NOMUTEX,
                                                     static_cast<int>(busy_timeout_.count()), vfs);
  } catch (const SQLite::Exception& error) {
    throw database_error(error.getErrorCode(), error.getErrorStr(), path_);
  }
  sqlite3* connection = connection_->getHandle();
  sqlite3_extended_result_codes(connection, 1);
  distrust(connection);
  if (steps_left_) {
    sqlite3_progress_handler(connection, kStepsAtOnce, spend, steps_left_.get());
  }
}

/// False if SQLite cannot write what it needs even for reading: a file beside the database. A
/// journal of an interrupted write cannot be left aside, so that error stays.
bool Database::can_begin() {
  constexpr std::array<int, 4> kWriting{SQLITE_CANTOPEN, SQLITE_READONLY, SQLITE_IOERR,
                                        SQLITE_FULL};
  const int code = connection_->tryExec("SELECT 1 FROM sqlite_master LIMIT 1");
  const bool must_write = std::ranges::count(kWriting, code & kPrimaryCode) > 0;
  if (must_write && bytes_of(plain_name(path_).string() + "-journal") == 0) {
    return false;
  }
  if (code != SQLITE_OK) {
    fail();
  }
  return true;
}

/// Opens the file, with its write-ahead log if there is one, without locks and without a file
/// beside it. A process that writes meanwhile can make rows look damaged.
void Database::open_as_it_is() {
  const fs::path name = plain_name(path_);
  if (bytes_of(name.string() + "-wal") == 0) {
    return open(uri_of(name) + "?immutable=1", SQLITE_OPEN_READONLY | SQLITE_OPEN_URI);
  }
  open(name, SQLITE_OPEN_READONLY, "unix-none");
  sqlite3_db_config(connection_->getHandle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1,
                    static_cast<int*>(nullptr));
  execute("PRAGMA locking_mode = EXCLUSIVE");  // keeps the log's index in memory
}

void Database::move_to_memory() {
  const auto file = std::exchange(connection_, nullptr);
  open(":memory:", SQLITE_OPEN_READWRITE);
  try {
    SQLite::Backup(*connection_, *file).executeStep();
  } catch (const SQLite::Exception&) {
    fail();
  }
}

bool Database::can_be_written() const {
  return sqlite3_db_readonly(connection_->getHandle(), "main") == 0 &&
         ::access(path_.c_str(), W_OK) == 0 && ::access(folder_of(path_).c_str(), W_OK) == 0;
}

void Database::execute(const std::string& sql) {
  if (connection_->tryExec(sql) != SQLITE_OK) {
    fail();
  }
}

std::int64_t Database::value(const std::string& sql) {
  Statement statement = prepare(sql);
  return statement.step() ? statement.integer(0) : 0;
}

std::int64_t Database::last_id() const { return connection_->getLastInsertRowid(); }

bool Database::in_transaction() const {
  return sqlite3_get_autocommit(connection_->getHandle()) == 0;
}

void Database::fail() const {
  const int code = connection_->getErrorCode();
  const int reason = sqlite3_system_errno(connection_->getHandle());
  std::string message = visible_text(connection_->getErrorMsg());  // has names of the file
  if ((code & kPrimaryCode) == SQLITE_IOERR && reason != 0) {
    message += fmt::format(" ({})", std::strerror(reason));
  }
  const Error error = database_error(code, message, path_);
  if (code == SQLITE_BUSY || code == SQLITE_LOCKED) {
    throw DatabaseLocked(error);
  }
  throw error;
}

void Database::fail_damaged(const std::string& what) const {
  throw Error(ExitCode::bad_file, fmt::format("the database is damaged ({})", visible_text(what)),
              path_.string(), kRepair);
}

Transaction::Transaction(Database& database)
    : database_(database), open_(!database.in_transaction()) {
  if (open_) {
    database_.execute("BEGIN IMMEDIATE");
  }
}

Transaction::~Transaction() {
  if (open_) {
    try {
      database_.execute("ROLLBACK");
    } catch (const Error&) {  // NOLINT(bugprone-empty-catch): SQLite has rolled back by itself
    }
  }
}

void Transaction::commit() {
  if (open_) {
    database_.execute("COMMIT");
    open_ = false;
  }
}

}  // namespace fatune
