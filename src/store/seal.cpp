#include "store/seal.hpp"

#include <array>
#include <string>

#include <fmt/format.h>

#include "core/error.hpp"
#include "store/digest.hpp"

namespace fatune {
namespace {

struct Sealed {
  const char* table;
  std::array<const char*, 2> rows;  ///< SQL of what is sealed; its parameter is the id
};

/// Outcomes count once they are ranked: before, they come one by one.
constexpr Sealed kRun{
    "runs", {"SELECT * FROM runs WHERE id = ?", "SELECT count(*) FROM run_problems WHERE run = ?"}};
constexpr Sealed kProblem{
    "run_problems",
    {"SELECT rp.*, r.conditions FROM run_problems rp JOIN runs r ON r.id = rp.run WHERE rp.id = ?",
     "SELECT o.id, o.time_us, o.place FROM outcomes o "
     "JOIN run_problems rp ON rp.id = o.run_problem AND rp.ranked <> 0 WHERE rp.id = ? "
     "ORDER BY o.id"}};
constexpr Sealed kOutcome{
    "outcomes",
    {"SELECT o.*, rp.problem, rp.repetition, r.conditions, r.plan FROM outcomes o "
     "JOIN run_problems rp ON rp.id = o.run_problem JOIN runs r ON r.id = rp.run WHERE o.id = ?",
     "SELECT s.us FROM outcomes o JOIN samples s ON s.outcome = coalesce(o.source, o.id) "
     "WHERE o.id = ? ORDER BY s.number"}};

void add_named_row(const Statement& row, Digest& digest) {
  for (int column = 0; column < row.columns(); ++column) {
    if (!row.is_null(column) && row.name(column) != "seal") {
      digest.add(row.name(column));
      digest.add_column(row, column);
    }
  }
}

std::string present_seal(Database& database, const Sealed& sealed, std::int64_t id) {
  Digest digest;
  for (const char* sql : sealed.rows) {
    Statement rows = database.prepare(sql);
    rows.bind(id);
    while (rows.step()) {
      add_named_row(rows, digest);
    }
  }
  return digest.hex();
}

void seal(Database& database, const Sealed& sealed, std::int64_t id) {
  database.prepare(fmt::format("UPDATE {} SET seal = ? WHERE id = ?", sealed.table))
      .bind(present_seal(database, sealed, id), id)
      .run();
}

void check(Database& database, const Sealed& sealed, std::int64_t id) {
  Statement row = database.prepare(fmt::format("SELECT seal FROM {} WHERE id = ?", sealed.table));
  row.bind(id);
  if (!row.step() || row.text(0) != present_seal(database, sealed, id)) {
    throw Error(ExitCode::bad_file,
                fmt::format("a row of {} does not match its seal", sealed.table));
  }
}

}  // namespace

void seal_run(Database& database, std::int64_t id) { seal(database, kRun, id); }
void seal_problem(Database& database, std::int64_t id) { seal(database, kProblem, id); }
void seal_outcome(Database& database, std::int64_t id) { seal(database, kOutcome, id); }

void seal_unsealed(Database& database) {
  for (const Sealed& sealed : {kRun, kProblem, kOutcome}) {
    const std::string sql = fmt::format("SELECT id FROM {} WHERE seal IS NULL", sealed.table);
    for (const std::int64_t id : database.prepare(sql).integers()) {
      seal(database, sealed, id);
    }
  }
}

void check_run_seal(Database& database, std::int64_t id) { check(database, kRun, id); }
void check_problem_seal(Database& database, std::int64_t id) { check(database, kProblem, id); }
void check_outcome_seal(Database& database, std::int64_t id) { check(database, kOutcome, id); }

}  // namespace fatune
