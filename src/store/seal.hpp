#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "store/database.hpp"

// A seal is a digest of a row and of all that other tables say about it. It ensures that a damaged
// value is never shown, or taken for another problem's value. It covers every column that has a
// value, by name.
namespace fatune {

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
