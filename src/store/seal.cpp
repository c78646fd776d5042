#include "store/seal.hpp"

#include <string>

#include <fmt/format.h>

#include "core/error.hpp"
#include "store/digest.hpp"
#include "store/problem_columns.hpp"

namespace fatune {
namespace {

struct Sealed {
  const char* table;
  const char*
      rows;  ///< SQL of what is sealed; its parameter is the id. {problem}: kDigestedProblem
};

constexpr Sealed kRun{
    "runs",
    "SELECT r.id, r.command_line, r.started_at, r.wall_s, r.complete, r.anew, r.space, r.family, "
    "r.baseline, r.free_memory_bytes, r.policy, r.toolchain, r.conditions, r.plan, r.busy_s, "
    "r.gpus, d.uuid, d.name, d.limits, "
    "(SELECT count(*) FROM run_problems rp WHERE rp.run = r.id) "
    "FROM runs r JOIN devices d ON d.id = r.device WHERE r.id = ?"};

/// Outcomes count once they are ranked: before, they come one by one.
constexpr Sealed kProblem{
    "run_problems",
    "SELECT rp.id, rp.run, rp.repetition, rp.pruned, rp.invalid, rp.ranked, rp.finished, "
    "rp.details, {problem}, r.conditions, "
    "o.id, o.time_us, o.rank, o.tie_group, o.relative_percent, o.place "
    "FROM run_problems rp JOIN runs r ON r.id = rp.run JOIN problems p ON p.id = rp.problem "
    "LEFT JOIN outcomes o ON o.run_problem = rp.id AND rp.ranked <> 0 WHERE rp.id = ? "
    "ORDER BY o.id"};

constexpr Sealed kOutcome{
    "outcomes",
    "SELECT o.id, o.run_problem, o.launch, o.tried, o.source, o.kind, o.time_us, o.digest, "
    "o.dynamic_smem_bytes, o.threads_per_block, o.blocks_per_sm, o.compile_ms, o.from_cache, "
    "o.total_flop, o.same_code_as, o.pruned_by, c.family, c.short_form, c.source_hash, "
    "c.kernel_name, c.config, c.parameters, a.key, a.code_hash, a.facts, rp.repetition, "
    "{problem}, r.conditions, r.plan "
    "FROM outcomes o JOIN configurations c ON c.id = o.configuration "
    "LEFT JOIN artifacts a ON a.id = o.artifact JOIN run_problems rp ON rp.id = o.run_problem "
    "JOIN runs r ON r.id = rp.run JOIN problems p ON p.id = rp.problem WHERE o.id = ?"};

std::string present_seal(Database& database, const Sealed& sealed, std::int64_t id) {
  Statement rows = database.prepare(
      fmt::format(fmt::runtime(sealed.rows), fmt::arg("problem", kDigestedProblem)));
  rows.bind(id);
  Digest digest;
  while (rows.step()) {
    digest.add_row(rows);
  }
  return digest.hex();
}

void seal(Database& database, const Sealed& sealed, std::int64_t id) {
  database.prepare("UPDATE " + std::string(sealed.table) + " SET seal = ? WHERE id = ?")
      .bind(present_seal(database, sealed, id), id)
      .run();
}

void check(Database& database, const Sealed& sealed, std::int64_t id) {
  Statement row =
      database.prepare("SELECT seal FROM " + std::string(sealed.table) + " WHERE id = ?");
  row.bind(id);
  const bool intact =
      row.step() && (row.is_null(0) || row.text(0) == present_seal(database, sealed, id));
  if (!intact) {
    throw Error(ExitCode::bad_file,
                "a row of " + std::string(sealed.table) + " does not match its seal");
  }
}

}  // namespace

void seal_run(Database& database, std::int64_t id) { seal(database, kRun, id); }
void seal_problem(Database& database, std::int64_t id) { seal(database, kProblem, id); }
void seal_outcome(Database& database, std::int64_t id) { seal(database, kOutcome, id); }

void check_run_seal(Database& database, std::int64_t id) { check(database, kRun, id); }
void check_problem_seal(Database& database, std::int64_t id) { check(database, kProblem, id); }
void check_outcome_seal(Database& database, std::int64_t id) { check(database, kOutcome, id); }

}  // namespace fatune
