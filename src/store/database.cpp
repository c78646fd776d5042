#include "store/database.hpp"

#include <sqlite3.h>

#include <system_error>

#include <fmt/format.h>

#include "core/error.hpp"

namespace fatune {
namespace {

namespace fs = std::filesystem;

constexpr const char* kRepair =
    "move the file away, or name another with --db; --no-db works without a database";

Error database_error(int code, const std::string& message, const fs::path& path) {
  constexpr int kPrimaryCode = 0xff;
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
    default:
      return {ExitCode::io, fmt::format("cannot use the database: {}", message), path.string(),
              "check the folder's permissions and its disk, or name another file with --db"};
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

}  // namespace

void Statement::Finalise::operator()(sqlite3_stmt* statement) const noexcept {
  sqlite3_finalize(statement);
}

bool Statement::step() {
  const int code = sqlite3_step(statement_.get());
  if (code != SQLITE_ROW && code != SQLITE_DONE) {
    database_->fail();
  }
  return code == SQLITE_ROW;
}

void Statement::run() {
  while (step()) {
  }
  sqlite3_reset(statement_.get());
}

void Statement::reset() { sqlite3_reset(statement_.get()); }

std::vector<std::int64_t> Statement::integers() {
  std::vector<std::int64_t> values;
  while (step()) {
    values.push_back(integer(0));
  }
  return values;
}

std::int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

double Statement::real(int column) const { return sqlite3_column_double(statement_.get(), column); }

std::string Statement::text(int column) const {
  const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement_.get(), column));
  const int count = sqlite3_column_bytes(statement_.get(), column);
  return bytes == nullptr ? std::string() : std::string(bytes, static_cast<std::size_t>(count));
}

int Statement::columns() const { return sqlite3_column_count(statement_.get()); }

std::string Statement::name(int column) const {
  const char* name = sqlite3_column_name(statement_.get(), column);
  return name == nullptr ? std::string() : std::string(name);
}

Statement::Type Statement::type(int column) const {
  switch (sqlite3_column_type(statement_.get(), column)) {
    case SQLITE_NULL:
      return Type::null;
    case SQLITE_INTEGER:
      return Type::integer;
    case SQLITE_FLOAT:
      return Type::real;
    default:  // fatune writes no blobs, and reads a blob as text
      return Type::text;
  }
}

Statement& Statement::bind_row(const Statement& row) {
  for (int column = 0; column < row.columns(); ++column) {
    database_->check(sqlite3_bind_value(statement_.get(), column + 1,
                                        sqlite3_column_value(row.statement_.get(), column)));
  }
  return *this;
}

void Statement::bind_integer(int index, std::int64_t value) {
  database_->check(sqlite3_bind_int64(statement_.get(), index, value));
}

void Statement::bind_at(int index, double value) {
  database_->check(sqlite3_bind_double(statement_.get(), index, value));
}

void Statement::bind_at(int index, const std::string& value) {
  database_->check(sqlite3_bind_text64(statement_.get(), index, value.data(), value.size(),
                                       SQLITE_TRANSIENT, SQLITE_UTF8));
}

void Statement::bind_null(int index) {
  database_->check(sqlite3_bind_null(statement_.get(), index));
}

void Database::Close::operator()(sqlite3* connection) const noexcept {
  sqlite3_close_v2(connection);
}

Database::Database(fs::path path, Mode mode, std::chrono::milliseconds busy_timeout)
    : path_(std::move(path)) {
  mode == Mode::create ? make_folder_of(path_) : check_there(path_);
  const int create = mode == Mode::create ? SQLITE_OPEN_CREATE : 0;
  sqlite3* connection = nullptr;
  const int code = sqlite3_open_v2(path_.c_str(), &connection,
                                   SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | create, nullptr);
  connection_.reset(connection);
  if (code != SQLITE_OK) {
    throw database_error(code, sqlite3_errstr(code), path_);
  }
  sqlite3_extended_result_codes(connection, 1);
  sqlite3_busy_timeout(connection, static_cast<int>(busy_timeout.count()));
}

void Database::execute(const std::string& sql) {
  check(sqlite3_exec(connection_.get(), sql.c_str(), nullptr, nullptr, nullptr));
}

Statement Database::prepare(const std::string& sql) {
  sqlite3_stmt* statement = nullptr;
  check(sqlite3_prepare_v2(connection_.get(), sql.data(), static_cast<int>(sql.size()), &statement,
                           nullptr));
  return {*this, statement};
}

std::int64_t Database::value(const std::string& sql) {
  Statement statement = prepare(sql);
  return statement.step() ? statement.integer(0) : 0;
}

std::int64_t Database::last_id() const { return sqlite3_last_insert_rowid(connection_.get()); }

bool Database::in_transaction() const { return sqlite3_get_autocommit(connection_.get()) == 0; }

void Database::check(int code) const {
  if (code != SQLITE_OK) {
    fail();
  }
}

void Database::fail() const {
  const int code = sqlite3_errcode(connection_.get());
  const Error error = database_error(code, sqlite3_errmsg(connection_.get()), path_);
  if (code == SQLITE_BUSY || code == SQLITE_LOCKED) {
    throw DatabaseLocked(error);
  }
  throw error;
}

void Database::fail_damaged(const std::string& what) const {
  throw Error(ExitCode::bad_file, fmt::format("the database is damaged ({})", what), path_.string(),
              kRepair);
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
