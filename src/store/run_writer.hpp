#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "model/config.hpp"
#include "model/kernel_code.hpp"
#include "model/report.hpp"
#include "store/database.hpp"

namespace fatune {

/// The identity that decides whether one measurement can replace another. Both members are hashes
/// that the caller computes; the store only compares them.
struct RunIdentity {
  std::string conditions;  ///< GPU, policy, toolchain, verifier: how a thing was measured
  std::string plan;        ///< the conditions, and every problem with its configurations
};

struct NewRun {
  RunReport header;  ///< has no problems; has the hash of each family's sources
  RunIdentity identity;
  std::optional<Config> baseline;
  bool anew = false;  ///< results of earlier unfinished runs of the plan no longer count
};

/// How an outcome came about: what the result does not say.
struct OutcomeOrigin {
  std::string code_hash;  ///< hash of the machine code; unused without facts
  LaunchGeometry launch;
  bool tried = false;  ///< evaluated by this run, and final: a later run may take it
  std::optional<std::int64_t> source;  ///< the stored outcome that this one repeats
};

/// Writes one run as it proceeds. Each call is one transaction: it is stored whole, or not at all
/// and an Error is thrown.
class RunWriter {
 public:
  /// Stores the run as begun, not complete. `database` must outlive this.
  RunWriter(Database& database, const NewRun& run);

  /// Begins the problem that the following calls of add() belong to. Ignores its lists of results.
  void begin_problem(const ProblemReport& problem);
  /// Adds a result. Precondition: it belongs to the current problem and has no rank yet.
  void add(const Result& result, const OutcomeOrigin& origin);
  /// Adds the rank and order of the results that were added, and what the report says about the
  /// whole problem. `finished`: nothing is missing, so a later run may take the problem whole.
  void end_problem(const ProblemReport& problem, bool finished);
  /// Replaces the other calls for the current problem. Copies the problem from `source`, a row of
  /// run_problems, and repeats its outcomes.
  void repeat_problem(std::int64_t source);
  void end_run(const RunReport& report);  ///< stores durations, GPUs, completeness

  [[nodiscard]] std::int64_t run_id() const { return run_id_; }
  [[nodiscard]] std::int64_t run_problem() const { return problem_id_; }  ///< the current problem

 private:
  void place(const std::vector<Result>& results);
  void repeat_outcomes(std::int64_t source);

  Database& database_;
  RunReport header_;
  std::map<std::string, std::int64_t> outcomes_;  ///< the problem's, keyed by configuration
  std::int64_t run_id_ = 0;
  std::int64_t problem_id_ = 0;  ///< row in run_problems
};

/// Stores runs that have ended, with the problems in their headers. Stores all of them, or stores
/// none and throws an Error. Later runs do not take their outcomes. Returns the numbers of the
/// runs.
[[nodiscard]] std::vector<std::int64_t> store_runs(Database& database,
                                                   const std::vector<RunReport>& runs);

/// A column of a row to insert.
template <typename Value>
struct Column {
  std::string_view name;
  Value value;
};
template <typename Value>
Column(const char*, Value) -> Column<Value>;

/// Inserts a row and returns its id.
template <typename... Values>
std::int64_t insert(Database& database, std::string_view table, const Column<Values>&... columns) {
  const std::array<std::string_view, sizeof...(columns)> names{columns.name...};
  const std::array<std::string_view, sizeof...(columns)> marks{((void)columns, "?")...};
  database
      .prepare(fmt::format("INSERT INTO {} ({}) VALUES ({})", table, fmt::join(names, ", "),
                           fmt::join(marks, ", ")))
      .bind(columns.value...)
      .run();
  return database.last_id();
}

}  // namespace fatune
