#include "store/recall.hpp"

#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"

namespace fatune {
namespace {

using Kind = JournalEvent::Kind;

template <typename Member>
std::optional<Member> only_if(bool there, const Member& member) {
  return there ? std::optional(member) : std::nullopt;
}

/// Calls `use` with an event's columns, without run_problem.
template <typename Use>
void with_columns(std::int64_t seq, const JournalEvent& event, Use use) {
  const bool admitted = event.kind == Kind::admitted;
  const bool sample = event.kind == Kind::sample;
  const bool timed = admitted || sample || event.kind == Kind::turn;
  const auto& reading = event.reading;
  const GpuReading read = reading.value_or(GpuReading{});
  use(seq, std::string(enum_name(event.kind)), event.config, only_if(admitted, event.artifact_key),
      only_if(admitted, launch_column(event.launch)), only_if(timed, event.us),
      only_if(sample, event.throttled), event.elapsed_s, only_if(reading.has_value(), read.sm_mhz),
      only_if(reading.has_value(), read.power_w), only_if(reading.has_value(), read.temperature_c),
      only_if(reading.has_value(), read.clock_limits),
      event.verification ? std::optional(column_text(*event.verification)) : std::nullopt,
      event.outcome ? std::optional(column_text(*event.outcome)) : std::nullopt);
}

/// The columns in the order of with_columns().
constexpr const char* kColumns =
    "seq, kind, config, artifact_key, launch, us, throttled, elapsed_s, sm_mhz, power_w, "
    "temperature_c, clock_limits, verification, outcome";

Statement prepare_insert(Database& database) {
  return database.prepare(fmt::format(
      "INSERT INTO journal (run_problem, {}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      kColumns));
}

Statement select_events(Database& database, std::int64_t run_problem) {
  return database.query(
      fmt::format("SELECT {} FROM journal WHERE run_problem = ? ORDER BY seq", kColumns),
      run_problem);
}

template <typename Value, typename Member>
void read_if_there(const Statement& row, int column, Member& member) {
  if (!row.is_null(column)) {
    member = read_column<Value>(row, column);
  }
}

JournalEvent read_event(const Statement& row) {
  JournalEvent event;
  event.kind = parse_enum<Kind>(row.text(1));
  event.config = row.text(2);
  event.artifact_key = row.text(3);
  read_if_there<LaunchGeometry>(row, 4, event.launch);
  event.us = row.real(5);
  if (event.kind == Kind::sample || event.kind == Kind::turn) {
    check_kernel_time(event.us, "us");
  }
  event.throttled = row.flag(6);
  event.elapsed_s = row.real(7);
  if (!row.is_null(8)) {
    event.reading = GpuReading{row.real(8), row.real(9), row.real(10),
                               static_cast<std::uint32_t>(row.integer(11))};
  }
  read_if_there<Verification>(row, 12, event.verification);
  read_if_there<Outcome>(row, 13, event.outcome);
  return event;
}

/// Reads an event. Returns nothing if it cannot be read, or does not have the number `seq`.
std::optional<JournalEvent> readable(const Statement& row, std::int64_t seq) {
  if (row.integer(0) != seq) {
    return std::nullopt;
  }
  try {
    return read_event(row);
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::int64_t next_seq(Database& database, std::int64_t run_problem) {
  Statement last =
      database.query("SELECT max(seq) FROM journal WHERE run_problem = ?", run_problem);
  return last.step() && !last.is_null(0) ? last.integer(0) + 1 : 0;
}

/// Selects the unfinished runs of a plan that a new run continues. Runs from before the plan's last
/// complete run, or before the last one that began anew, do not count. Parameters: ?1 is the
/// current run, ?2 the plan.
constexpr const char* kUnfinishedRuns =
    "SELECT id FROM runs WHERE id <> ?1 AND plan = ?2 AND complete = 0 "
    "AND id > coalesce((SELECT max(id) FROM runs WHERE plan = ?2 AND complete = 1), 0) "
    "AND id >= coalesce((SELECT max(id) FROM runs WHERE plan = ?2 AND anew = 1), 0)";

/// Whether a row of run_problems has this problem and repetition and belongs to a run under these
/// conditions and, unless it is empty, of this plan. Other queries use indexes, which may be
/// damaged on their own and lead to another row. This one reads the rows themselves.
bool is_of_problem(Database& database, std::int64_t run_problem, const RunIdentity& identity,
                   const Problem& problem, int repetition) {
  Statement row = database.query(
      "SELECT rp.problem, rp.repetition, r.conditions, r.plan FROM run_problems rp NOT INDEXED "
      "JOIN runs r NOT INDEXED ON r.id = rp.run WHERE rp.id = ?",
      run_problem);
  return row.step() && row.text(0) == column_text(problem) && row.integer(1) == repetition &&
         row.text(2) == identity.conditions &&
         (identity.plan.empty() || row.text(3) == identity.plan);
}

/// Finds the latest row `rp` of run_problems that has this problem and repetition, belongs to a run
/// of kUnfinishedRuns, and satisfies the SQL `condition`.
std::optional<std::int64_t> find_unfinished_problem(const CurrentRun& run, const Problem& problem,
                                                    int repetition, const char* condition) {
  Statement found = run.database.query(
      fmt::format("SELECT rp.id FROM run_problems rp WHERE rp.run IN ({}) AND rp.problem = ?3 "
                  "AND rp.repetition = ?4 AND {} ORDER BY rp.id DESC LIMIT 1",
                  kUnfinishedRuns, condition),
      run.id, run.identity.plan, column_text(problem), repetition);
  const bool is_there = found.step() && is_of_problem(run.database, found.integer(0), run.identity,
                                                      problem, repetition);
  return is_there ? std::optional(found.integer(0)) : std::nullopt;
}

/// Selects the candidate's outcomes in other runs that have their own samples and do not repeat
/// another outcome. Parameters: ?1 is the current run, ?2 the plan.
constexpr const char* kOfCandidate =
    "SELECT o.id, o.result, o.run_problem FROM outcomes o "
    "JOIN run_problems rp ON rp.id = o.run_problem JOIN runs r ON r.id = rp.run "
    "WHERE r.id <> ?1 AND r.conditions = ?3 AND rp.problem = ?4 AND rp.repetition = ?5 "
    "AND o.artifact_key = ?6 AND o.launch = ?7 AND o.tried = 1 AND o.source IS NULL AND ";

constexpr const char* kLatest = " ORDER BY o.id DESC LIMIT 1";

/// Returns the result of `read`. Damaged data counts as missing, and is measured again. Throws an
/// Error if the database cannot be read at all.
template <typename Read>
auto readable(const Database& database, Read read) -> std::optional<decltype(read())> {
  try {
    return read();
  } catch (const Error& error) {
    if (error.where() == database.path().string()) {
      throw;
    }
    return std::nullopt;
  }
}

/// Whether the row that was found belongs to the candidate; see is_of_problem().
bool is_of_candidate(Database& database, std::int64_t id, const StoredCandidate& candidate) {
  Statement row =
      database.query("SELECT artifact_key, launch FROM outcomes NOT INDEXED WHERE id = ?", id);
  return row.step() && row.text(0) == candidate.artifact_key &&
         row.text(1) == launch_column(candidate.launch);
}

/// The candidate's latest outcome that satisfies the SQL `condition`.
std::optional<Recalled> latest(const CurrentRun& run, const StoredCandidate& candidate,
                               const std::string& condition) {
  auto& [database, identity, id] = run;
  Statement found =
      database.query(kOfCandidate + condition + kLatest, id, identity.plan, identity.conditions,
                     column_text(candidate.problem), candidate.run, candidate.artifact_key,
                     launch_column(candidate.launch));
  if (!found.step() || !is_of_candidate(database, found.integer(0), candidate) ||
      !is_of_problem(database, found.integer(2), identity, candidate.problem, candidate.run)) {
    return std::nullopt;
  }
  const std::int64_t outcome = found.integer(0);
  return readable(run.database, [&] {
    return Recalled{load_result(run.database, found.text(1), outcome).outcome, outcome};
  });
}

}  // namespace

Journal::Journal(Database& database, std::int64_t run_problem)
    : database_(&database),
      insert_(prepare_insert(database)),
      run_problem_(run_problem),
      next_(next_seq(database, run_problem)) {}

void Journal::insert(std::int64_t seq, const JournalEvent& event) {
  with_columns(seq, event,
               [this](const auto&... columns) { insert_.bind(run_problem_, columns...).run(); });
}

void Journal::add_all(const std::vector<JournalEvent>& events) {
  Transaction transaction(*database_);
  std::int64_t seq = next_;
  for (const JournalEvent& event : events) {
    insert(seq++, event);
  }
  transaction.commit();
  next_ = seq;
}

std::vector<JournalEvent> load_journal(Database& database, std::int64_t run_problem) {
  Statement rows = select_events(database, run_problem);
  std::vector<JournalEvent> events;
  while (rows.step()) {
    auto event = readable(rows, std::ssize(events));
    if (!event) {
      break;
    }
    events.push_back(*std::move(event));
  }
  return events;
}

std::optional<Recalled> recall_unfinished(const CurrentRun& run, const StoredCandidate& candidate) {
  return latest(run, candidate, fmt::format("r.id IN ({})", kUnfinishedRuns));
}

std::optional<Recalled> recall_measurement(const CurrentRun& run,
                                           const StoredCandidate& candidate) {
  return latest({run.database, {run.identity.conditions, {}}, run.id}, candidate,
                "o.kind IN ('measured', 'wrong_result')");
}

std::optional<StoredProblem> recall_problem(const CurrentRun& run, const Problem& problem,
                                            int repetition) {
  const auto found = find_unfinished_problem(run, problem, repetition, "rp.finished = 1");
  return found ? readable(run.database, [&] { return load_problem(run.database, *found); })
               : std::nullopt;
}

bool has_begun(const CurrentRun& run, const Problem& problem, int repetition) {
  return find_unfinished_problem(run, problem, repetition, "TRUE").has_value();
}

bool has_unfinished(const CurrentRun& run) {
  return run.database.query(kUnfinishedRuns, run.id, run.identity.plan).step();
}

std::vector<JournalEvent> recall_journal(const CurrentRun& run, const Problem& problem,
                                         int repetition) {
  const auto found = find_unfinished_problem(
      run, problem, repetition, "EXISTS (SELECT 1 FROM journal j WHERE j.run_problem = rp.id)");
  return found ? load_journal(run.database, *found) : std::vector<JournalEvent>();
}

}  // namespace fatune
