#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "store/database.hpp"

// A seal is a digest over a row and all that other tables say of it, so that a damaged value is
// never shown, or taken for another problem's. It covers every column that has a value, by its
// name: a column that is added later, and has no value in earlier rows, leaves their seals valid.
namespace fatune {

// After each change of the row, in the same transaction. Ids are those of `runs`, `run_problems`
// and `outcomes`.
void seal_run(Database& database, std::int64_t id);      ///< and how many problems it has
void seal_problem(Database& database, std::int64_t id);  ///< and the order in it
void seal_outcome(Database& database, std::int64_t id);  ///< and its samples and problem
/// Every row whose seal is NULL, for migrations. Any other text is the seal of a damaged row.
void seal_unsealed(Database& database);

/// Does the same to many rows, with statements that are prepared once. `database` must outlive it.
class Sealer {
 public:
  enum class Kind { run, problem, outcome };

  explicit Sealer(Database& database);
  Sealer(const Sealer&) = delete;
  Sealer& operator=(const Sealer&) = delete;
  ~Sealer();

  void seal(Kind kind, std::int64_t id);
  /// Error(bad_file) when the row is not as it was sealed.
  void check(Kind kind, std::int64_t id);

 private:
  class Table;
  std::vector<std::unique_ptr<Table>> tables_;  ///< by kind
};

// These throw Error(bad_file) when the row is not as it was sealed.
void check_run_seal(Database& database, std::int64_t id);
void check_problem_seal(Database& database, std::int64_t id);
void check_outcome_seal(Database& database, std::int64_t id);

}  // namespace fatune
