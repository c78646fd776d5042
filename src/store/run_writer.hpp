#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/config.hpp"
#include "core/kernel_code.hpp"
#include "report/report.hpp"
#include "store/database.hpp"

namespace fatune {

/// The identity that decides whether one measurement can replace another. Both members are hashes
/// that the caller computes; the store only compares them.
struct RunIdentity {
  std::string conditions;  ///< GPU, policy, toolchain, verifier: how a thing was measured
  std::string plan;        ///< the conditions, and every problem with its configurations
};

struct NewRun {
  RunReport header;  ///< without problems; with the hash of each family's sources
  RunIdentity identity;
  std::optional<Config> baseline;
  bool anew = false;  ///< what earlier unfinished runs of the plan left does not count any more
};

/// How an outcome came about, beyond what the result says.
struct OutcomeOrigin {
  std::string code_hash;  ///< of the machine code; unused without facts
  LaunchGeometry launch;
  bool tried = false;  ///< the evaluator made it, and it is final: a later run may take it
  std::optional<std::int64_t> source;  ///< the stored outcome that this one repeats
};

/// Writes one run as it proceeds. Each call is one transaction: it is stored whole, or not at all
/// and an Error is thrown.
class RunWriter {
 public:
  /// Stores the run as begun, not complete. `database` must outlive this.
  RunWriter(Database& database, const NewRun& run);

  /// The problem that add() is for from now on; its lists are not looked at.
  void begin_problem(const ProblemReport& problem);
  /// Precondition: the result is the problem's, and has no rank yet.
  void add(const Result& result, const OutcomeOrigin& origin);
  /// Adds rank and order to what was added, and what the report says of the whole problem.
  /// `finished`: nothing of it is missing, so that a later run may take it whole.
  void end_problem(const ProblemReport& problem, bool finished);
  /// In place of the other calls for the problem under way: all of it is as `source`, a row of
  /// run_problems, has it; its outcomes are repeated from there.
  void repeat_problem(std::int64_t source);
  void end_run(const RunReport& report);  ///< durations, GPUs, completeness

  [[nodiscard]] std::int64_t run_id() const { return run_id_; }
  [[nodiscard]] std::int64_t run_problem() const { return problem_id_; }  ///< under way

 private:
  void place(const std::vector<Result>& results);
  void repeat_outcomes(std::int64_t source);

  Database& database_;
  RunReport header_;
  std::map<std::string, std::int64_t> outcomes_;  ///< of the problem, by configuration
  std::int64_t run_id_ = 0;
  std::int64_t problem_id_ = 0;  ///< in run_problems
};

/// Stores runs that have ended, with the problems of their headers: all of them, or none and an
/// Error. No later run takes their outcomes. Returns their numbers.
[[nodiscard]] std::vector<std::int64_t> store_runs(Database& database,
                                                   const std::vector<RunReport>& runs);

}  // namespace fatune
