#pragma once

#include <cstdint>
#include <vector>

#include "core/journal_event.hpp"
#include "store/database.hpp"

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
  std::int64_t next_;
};

/// Loads the journal up to the first event that is damaged or missing. Later events cannot be
/// replayed to a race.
[[nodiscard]] std::vector<JournalEvent> load_journal(Database& database, std::int64_t run_problem);

}  // namespace fatune
