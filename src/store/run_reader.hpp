#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/config.hpp"
#include "model/emulation.hpp"
#include "model/kernel_code.hpp"
#include "model/problem.hpp"
#include "model/record_json.hpp"
#include "model/report.hpp"
#include "store/database.hpp"

namespace fatune {

// Values are stored in the columns of the database as the text of their records.

template <typename Value>
std::string column_text(const Value& value) {
  return record_text(record_json(value));
}
/// Throws Error(bad_file) if the value cannot be read.
template <typename Value>
Value read_column(const Statement& row, int column) {
  return read_record<Value>(parse_record(row.text(column)));
}

/// One text of a run's header. Empty: it has none there.
[[nodiscard]] std::string header_text(const nlohmann::json& header, const char* pointer);

/// Whether a run's header is that of measurements, and not of estimates.
[[nodiscard]] inline bool is_measured(const nlohmann::json& header) {
  return !header.contains("measured") || header["measured"] != false;
}

/// The text of a launch, without standard arguments: these follow from the problem.
[[nodiscard]] std::string launch_column(LaunchGeometry launch);

/// The samples of the result's outcome. They are stored as separate rows.
[[nodiscard]] inline std::vector<double> samples_of(const Result& result) {
  const auto* measured = std::get_if<Measured>(&result.outcome);
  return measured == nullptr ? std::vector<double>() : measured->timing.samples_us;
}
/// The text of a result without its samples.
[[nodiscard]] std::string result_column(const Result& result);
/// Loads a result with its samples. `source` is the stored outcome that has the samples. Throws
/// Error(bad_file) if the result cannot be read.
[[nodiscard]] Result load_result(Database& database, const std::string& text, std::int64_t source);

void save_samples(Database& database, std::int64_t outcome_id, const std::vector<double>& us);

/// A row of run_problems.
struct ProblemRow {
  std::int64_t id = 0;
  Problem problem;
  int repetition = 1;
  bool finished = false;  ///< nothing is missing
};

/// The stored run of a shard, without the contents of its problems.
struct StoredShard {
  std::int64_t id = 0;
  RunReport header;
  std::optional<Config> baseline;
  std::vector<ProblemRow> problems;  ///< ordered by when they were begun
};

/// The runs of a sweep's shards, joined into one run.
struct JoinedRun {
  RunReport header;
  std::optional<Config> baseline;
  std::vector<std::int64_t> problems;  ///< row ids in run_problems, in the sweep's order
};

/// Joins the runs, at least one, of one sweep's shards. If several runs have a problem, a finished
/// row is preferred to an unfinished one, and then the one that was started last. The header
/// describes a run that measured everything: it started with the first of the runs, took as long as
/// the GPU that took longest, and is complete once all problems of the sweep are finished. If only
/// one run contributes, its header stays as it is.
[[nodiscard]] JoinedRun join_runs(const std::vector<StoredShard>& parts);

/// Counts the problems of a shard that are finished in a store. Takes into account all runs,
/// including earlier attempts, of the latest sweep that has stored this shard.
[[nodiscard]] std::int64_t count_finished(Database& database, const Shard& shard);

struct StoredProblem {
  std::int64_t id = 0;  ///< row in run_problems
  ProblemReport report;
  bool ranked =
      false;  ///< false: the run was killed during it, and `ranking` has all results as found
};

struct StoredRun {
  RunReport header;  ///< has no problems
  std::vector<StoredProblem> problems;
  std::optional<Config> baseline;
};

struct RunList {
  std::vector<RunSummary> runs;       ///< the latest first; the shards of a sweep are one entry
  std::vector<std::int64_t> damaged;  ///< numbers of damaged runs, which are left out
};
[[nodiscard]] RunList list_runs(Database& database);

/// Loads a run as it was stored. A shard is joined with the other runs of its sweep.
/// Returns nothing if there is no run with that number. Throws Error(bad_file)
/// if the stored data cannot be read.
[[nodiscard]] std::optional<StoredRun> load_run(Database& database, std::int64_t run_id);

/// Loads a problem of a run by its row in run_problems. Throws Error(bad_file) if it cannot be
/// read.
[[nodiscard]] StoredProblem load_problem(Database& database, std::int64_t run_problem);

/// Returns the number of the run that began last. Returns nothing if there is no run.
[[nodiscard]] std::optional<std::int64_t> last_run(Database& database);

}  // namespace fatune
