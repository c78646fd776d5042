#pragma once

#include <cstdint>
#include <vector>

#include "attention/problem.hpp"
#include "core/journal_event.hpp"
#include "store/database.hpp"
#include "store/digest.hpp"
#include "store/run_writer.hpp"

namespace fatune {

/// The events that the race of one problem of a run was told, written as they happen.
class Journal {
 public:
  /// Goes on after what is there already. `run_problem`: RunWriter::run_problem(). `database` must
  /// outlive this.
  Journal(Database& database, std::int64_t run_problem);

  /// Stored once this returns, or an Error.
  void add(const JournalEvent& event);
  /// All of them, or none and an Error.
  void add_all(const std::vector<JournalEvent>& events);
  /// Forgets all events: the race begins anew.
  void clear();

 private:
  void insert(std::int64_t seq, const JournalEvent& event);

  Database* database_;
  Statement insert_;
  std::int64_t run_problem_;
  Digest problem_;  ///< each event's digest begins with it
  std::int64_t next_;
};

/// The journal up to the first event that is damaged or missing: what comes after it cannot be told
/// to a race.
[[nodiscard]] std::vector<JournalEvent> load_journal(Database& database, std::int64_t run_problem);

/// The journal of the problem and its repetition from the latest unfinished run of the same plan
/// (as recall_unfinished() takes them) in which it has one; empty: none has. A problem that was
/// finished there has its journal too: recall_problem() comes first.
[[nodiscard]] std::vector<JournalEvent> recall_journal(Database& database,
                                                       const RunIdentity& identity,
                                                       std::int64_t except_run,
                                                       const Problem& problem, int repetition);

/// For migrations that change what identifies a problem: gives the events whose digests begin with
/// `former_problem` those that begin with the problem as it stands now. Other events are damaged,
/// and stay so.
void renew_digests(Database& database, std::int64_t run_problem, const Digest& former_problem);

}  // namespace fatune
