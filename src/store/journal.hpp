#pragma once

#include <cstdint>
#include <vector>

#include "attention/problem.hpp"
#include "core/journal_event.hpp"
#include "store/database.hpp"
#include "store/run_writer.hpp"
#include "store/seal.hpp"

namespace fatune {

/// Stores the events that the race of one problem of a run received, as they happen.
class Journal {
 public:
  /// Continues after the events that are already stored. `run_problem`: RunWriter::run_problem().
  /// `database` must outlive this.
  Journal(Database& database, std::int64_t run_problem);

  /// Stores the event before it returns, or throws an Error.
  void add(const JournalEvent& event);
  /// Stores all of the events, or stores none and throws an Error.
  void add_all(const std::vector<JournalEvent>& events);
  /// Deletes all events: the race begins anew.
  void clear();

 private:
  void insert(std::int64_t seq, const JournalEvent& event);

  Database* database_;
  Statement insert_;
  std::int64_t run_problem_;
  Digest problem_;  ///< each event's digest begins with it
  std::int64_t next_;
};

/// Loads the journal up to the first event that is damaged or missing. Later events cannot be
/// replayed to a race.
[[nodiscard]] std::vector<JournalEvent> load_journal(Database& database, std::int64_t run_problem);

/// Loads the journal of the problem and its repetition from the latest unfinished run of the same
/// plan (see recall_unfinished()) that has one. Returns an empty list if there is none. A problem
/// that was finished in that run has its journal too, so call recall_problem() first.
[[nodiscard]] std::vector<JournalEvent> recall_journal(Database& database,
                                                       const RunIdentity& identity,
                                                       std::int64_t except_run,
                                                       const Problem& problem, int repetition);

}  // namespace fatune
