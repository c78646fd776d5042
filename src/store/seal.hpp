#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/database.hpp"

// A seal is a digest of a row and of all that other tables say about it. It ensures that a damaged
// value is never shown, or taken for another problem's value. It covers every column that has a
// value, by name.
namespace fatune {

/// 64-bit FNV-1a. It detects damage, not tampering. It is implemented here and not taken from a
/// library because users' databases hold these digests and must stay readable: another algorithm
/// would have to be added to this one.
/// Source: http://www.isthe.com/chongo/tech/comp/fnv/
class Digest {
 public:
  void update(std::string_view bytes);

  // These add a value as a column holds it, with its type. A row that is read back gives the same
  // digest as the values that were bound to it.
  void add(std::integral auto value) { add_integer(static_cast<std::int64_t>(value)); }
  void add(double value);
  void add(const std::string& value);
  template <typename Value>
  void add(const std::optional<Value>& value) {
    value ? add(*value) : add_null();
  }
  void add_column(const Statement& row, int column);
  /// Adds all columns of the current row from `first` on.
  void add_row(const Statement& row, int first = 0);

  [[nodiscard]] std::string hex() const;

 private:
  void add_integer(std::int64_t value);
  void add_null();
  void add_bits(char type, std::uint64_t bits);

  std::uint64_t hash_ = 0xcbf29ce484222325;
};

// Call these after each change of the row, in the same transaction. The ids are those of `runs`,
// `run_problems` and `outcomes`.
void seal_run(Database& database, std::int64_t id);      ///< also seals the number of its problems
void seal_problem(Database& database, std::int64_t id);  ///< also seals the order of its outcomes
void seal_outcome(Database& database, std::int64_t id);  ///< also seals its samples and its problem

/// Seals and checks many rows with statements that are prepared once. `database` must outlive this.
class Sealer {
 public:
  enum class Kind { run, problem, outcome };

  explicit Sealer(Database& database);
  Sealer(const Sealer&) = delete;
  Sealer& operator=(const Sealer&) = delete;
  ~Sealer();

  void seal(Kind kind, std::int64_t id);
  /// Throws Error(bad_file) if the row does not match its seal.
  void check(Kind kind, std::int64_t id);

 private:
  class Table;
  std::vector<std::unique_ptr<Table>> tables_;  ///< indexed by kind
};

// These throw Error(bad_file) if the row does not match its seal.
void check_run_seal(Database& database, std::int64_t id);
void check_problem_seal(Database& database, std::int64_t id);
void check_outcome_seal(Database& database, std::int64_t id);

}  // namespace fatune
