#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Exception.h>
#include <SQLiteCpp/Statement.h>

#include "base/error.hpp"

// SQLiteCpp with this program's errors. Every failure throws an Error that names the file: bad_file
// if its content is at fault, io if it cannot be read, written or locked.
namespace fatune {

/// Another process has kept the file locked for longer than the timeout.
class DatabaseLocked : public Error {
 public:
  explicit DatabaseLocked(const Error& error) : Error(error) {}
};

/// A prepared statement; its Database must outlive it.
class Statement {
 public:
  /// Fills the statement's parameters in order: integers, bool, double, std::string, and
  /// std::optional of these (no value: NULL).
  template <typename... Values>
  Statement& bind(const Values&... values) {
    int index = 0;
    try {
      (bind_at(++index, values), ...);
    } catch (const SQLite::Exception&) {  // a text of more than 1 GB
      fail();
    }
    return *this;
  }
  /// Fills the parameters with the columns of another statement's current row, in order.
  Statement& bind_row(const Statement& row);
  /// Moves to the next row. Returns false after the last row.
  [[nodiscard]] bool step();
  /// Runs a statement that returns no rows. It can then be bound again.
  void run() {
    while (step()) {
    }
    reset();
  }
  /// Resets the statement so that it can be bound and stepped again although rows may be left.
  void reset() { statement_.tryReset(); }
  /// Returns the first column of all remaining rows.
  [[nodiscard]] std::vector<std::int64_t> integers();

  // Columns of the current row, counted from 0. NULL reads as 0 or as an empty text.
  [[nodiscard]] int columns() const { return statement_.getColumnCount(); }
  [[nodiscard]] std::string name(int column) const { return statement_.getColumnName(column); }
  [[nodiscard]] SQLite::Column column(int index) const { return statement_.getColumn(index); }
  [[nodiscard]] std::int64_t integer(int index) const { return column(index).getInt64(); }
  [[nodiscard]] int small_integer(int index) const { return column(index).getInt(); }
  [[nodiscard]] bool flag(int index) const { return integer(index) != 0; }
  [[nodiscard]] double real(int index) const { return column(index).getDouble(); }
  [[nodiscard]] std::string text(int index) const { return column(index).getString(); }
  [[nodiscard]] bool is_null(int index) const { return column(index).isNull(); }

 private:
  friend class Database;
  Statement(const class Database& database, const std::string& sql);

  [[noreturn]] void fail() const;
  void bind_at(int index, const std::string& value) { statement_.bind(index, value); }
  void bind_at(int index, double value) { statement_.bind(index, value); }
  void bind_at(int index, std::integral auto value) {
    statement_.bind(index, static_cast<std::int64_t>(value));
  }
  template <typename Value>
  void bind_at(int index, const std::optional<Value>& value) {
    value ? bind_at(index, *value) : statement_.bind(index);
  }

  const Database* database_;
  SQLite::Statement statement_;
};

/// Refuses SQLite's names for databases that are no files. Throws Error(usage).
void refuse_no_file(const std::filesystem::path& path);

/// An open database file. Nothing in the file runs: views, triggers and whatever else could are
/// refused with Error(bad_file). Any name is a plain file name, and never a URI. Use it on one
/// thread.
class Database {
 public:
  enum class Mode {
    create,  ///< the file, and its folder, are made when they are missing
    /// A missing file is an Error(bad_file). A file that cannot be written, or whose folder cannot,
    /// is read. Reading takes a bounded number of steps, else it is an Error(bad_file).
    existing,
  };

  /// `busy_timeout`: how long to wait for a lock of another process.
  Database(std::filesystem::path path, Mode mode, std::chrono::milliseconds busy_timeout);

  void execute(const std::string& sql);  ///< runs any number of statements without rows
  [[nodiscard]] Statement prepare(const std::string& sql) const { return {*this, sql}; }
  /// A statement with its parameters filled: Statement::bind().
  template <typename... Values>
  [[nodiscard]] Statement query(const std::string& sql, const Values&... values) const {
    Statement statement = prepare(sql);
    statement.bind(values...);
    return statement;
  }
  [[nodiscard]] std::int64_t value(const std::string& sql);  ///< the only row's only integer
  [[nodiscard]] std::int64_t last_id() const;                ///< the id of the row inserted last
  [[nodiscard]] bool in_transaction() const;
  [[nodiscard]] bool can_be_written() const;
  void move_to_memory();  ///< leaves the file, and continues on a copy that nobody else sees
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  /// Throws the Error for the last call's result.
  [[noreturn]] void fail() const;
  /// Throws Error(bad_file): the content is not what fatune wrote.
  [[noreturn]] void fail_damaged(const std::string& what) const;

 private:
  friend class Statement;

  void open(const std::string& name, int flags, const char* vfs = nullptr);
  [[nodiscard]] bool can_begin();
  void open_as_it_is();

  std::filesystem::path path_;
  std::chrono::milliseconds busy_timeout_;
  std::unique_ptr<std::int64_t> steps_left_;  ///< null: any number
  std::unique_ptr<SQLite::Database> connection_;
};

/// Everything written during its lifetime becomes visible with commit(), or not at all. A
/// transaction within another one is part of it, and does nothing by itself.
class Transaction {
 public:
  explicit Transaction(Database& database);
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  ~Transaction();

  void commit();

 private:
  Database& database_;
  bool open_;  ///< this transaction must be ended: it is not within another one
};

}  // namespace fatune
