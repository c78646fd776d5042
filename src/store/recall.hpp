#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/journal_event.hpp"
#include "model/kernel_code.hpp"
#include "model/outcome.hpp"
#include "model/problem.hpp"
#include "store/database.hpp"
#include "store/run_reader.hpp"
#include "store/run_writer.hpp"

namespace fatune {

/// Stores the events that the race of one problem of a run received, as they happen.
class Journal {
 public:
  /// Continues after the events that are already stored. `run_problem`: RunWriter::run_problem().
  /// `database` must outlive this.
  Journal(Database& database, std::int64_t run_problem);

  /// Stores the event before it returns, or throws an Error.
  void add(const JournalEvent& event) {
    insert(next_, event);
    ++next_;
  }
  /// Stores all of the events, or stores none and throws an Error.
  void add_all(const std::vector<JournalEvent>& events);
  /// Deletes all events: the race begins anew.
  void clear() {
    database_->prepare("DELETE FROM journal WHERE run_problem = ?").bind(run_problem_).run();
    next_ = 0;
  }

 private:
  void insert(std::int64_t seq, const JournalEvent& event);

  Database* database_;
  Statement insert_;
  std::int64_t run_problem_;
  std::int64_t next_;
};

/// Loads the journal up to the first event that is damaged or missing. Later events cannot be
/// replayed to a race.
[[nodiscard]] std::vector<JournalEvent> load_journal(Database& database, std::int64_t run_problem);

/// The candidate that an outcome belongs to.
struct StoredCandidate {
  Problem problem;
  int run = 1;  ///< repetition of the whole measurement
  std::string artifact_key;
  LaunchGeometry launch;
};

/// An outcome of an earlier run.
struct Recalled {
  Outcome outcome;
  std::int64_t id = 0;  ///< the outcome's id in the store
};

/// The current run of a store, which recalls what other runs have left there.
struct CurrentRun {
  Database& database;
  RunIdentity identity;
  std::int64_t id;
};

/// Returns the candidate's outcome, of any kind, from an earlier, unfinished run of the same plan.
/// Runs from before the plan's last complete run, or before one that began anew (NewRun::anew), do
/// not count.
[[nodiscard]] std::optional<Recalled> recall_unfinished(const CurrentRun& run,
                                                        const StoredCandidate& candidate);

/// Returns the candidate's latest measurement (measured or wrong_result) by any other run under the
/// same conditions. Failures do not count: the next run may succeed.
[[nodiscard]] std::optional<Recalled> recall_measurement(const CurrentRun& run,
                                                         const StoredCandidate& candidate);

/// Returns the whole ranked report of the problem and its repetition from the latest unfinished run
/// of the same plan (as above) that finished it. Returns nothing if it is damaged.
[[nodiscard]] std::optional<StoredProblem> recall_problem(const CurrentRun& run,
                                                          const Problem& problem, int repetition);

/// Whether an unfinished run of the same plan (as above) has begun the problem and its repetition.
[[nodiscard]] bool has_begun(const CurrentRun& run, const Problem& problem, int repetition);

/// Whether recall_unfinished() may find something. recall_measurement() queries each time.
[[nodiscard]] bool has_unfinished(const CurrentRun& run);

/// Loads the journal of the problem and its repetition from the latest unfinished run of the same
/// plan (see recall_unfinished()) that has one. Returns an empty list if there is none. A problem
/// that was finished in that run has its journal too, so call recall_problem() first.
[[nodiscard]] std::vector<JournalEvent> recall_journal(const CurrentRun& run,
                                                       const Problem& problem, int repetition);

}  // namespace fatune
