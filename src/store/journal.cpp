#include "store/journal.hpp"

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/error.hpp"
#include "record/record_json.hpp"
#include "store/digest.hpp"
#include "store/earlier_runs.hpp"
#include "store/stored_outcome.hpp"

namespace fatune {
namespace {

using Kind = JournalEvent::Kind;

constexpr std::array<std::string_view, 4> kKindNames{"admitted", "sample", "failed", "closed"};

std::string kind_name(Kind kind) {
  return std::string(kKindNames.at(static_cast<std::size_t>(kind)));
}

Kind parse_kind(const std::string& name) {
  for (std::size_t i = 0; i < kKindNames.size(); ++i) {
    if (kKindNames.at(i) == name) {
      return static_cast<Kind>(i);
    }
  }
  throw Error(ExitCode::bad_file, "a journal has no events of kind '" + name + "'");
}

template <typename Member>
std::optional<Member> only_if(bool there, const Member& member) {
  return there ? std::optional(member) : std::nullopt;
}

/// Calls `use` with an event's columns: those before `digest`, without run_problem.
template <typename Use>
void with_columns(std::int64_t seq, const JournalEvent& event, Use use) {
  const bool admitted = event.kind == Kind::admitted;
  const bool sample = event.kind == Kind::sample;
  const auto& reading = event.reading;
  const GpuReading read = reading.value_or(GpuReading{});
  use(seq, kind_name(event.kind), event.config, only_if(admitted, event.artifact_key),
      only_if(admitted, launch_column(event.launch)), only_if(admitted || sample, event.us),
      only_if(sample, event.throttled), event.elapsed_s, only_if(reading.has_value(), read.sm_mhz),
      only_if(reading.has_value(), read.power_w), only_if(reading.has_value(), read.temperature_c),
      only_if(reading.has_value(), read.clock_limits),
      event.verification ? std::optional(record_text(record_json(*event.verification)))
                         : std::nullopt,
      event.outcome ? std::optional(record_text(record_json(*event.outcome))) : std::nullopt);
}

constexpr const char* kInsert =
    "INSERT INTO journal (run_problem, digest, seq, kind, config, artifact_key, launch, us, "
    "throttled, elapsed_s, sm_mhz, power_w, temperature_c, clock_limits, verification, outcome) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";

constexpr const char* kSelect =
    "SELECT digest, seq, kind, config, artifact_key, launch, us, throttled, elapsed_s, sm_mhz, "
    "power_w, temperature_c, clock_limits, verification, outcome "
    "FROM journal WHERE run_problem = ? ORDER BY seq";

template <typename Value>
void read_column(const Statement& row, int column, Value& value) {
  if (!row.is_null(column)) {
    value = read_record<Value>(parse_record(row.text(column)));
  }
}

JournalEvent read_event(const Statement& row) {
  JournalEvent event;
  event.kind = parse_kind(row.text(2));
  event.config = row.text(3);
  event.artifact_key = row.text(4);
  read_column(row, 5, event.launch);
  event.us = row.real(6);
  event.throttled = row.flag(7);
  event.elapsed_s = row.real(8);
  if (!row.is_null(9)) {
    event.reading = GpuReading{row.real(9), row.real(10), row.real(11),
                               static_cast<std::uint32_t>(row.integer(12))};
  }
  if (!row.is_null(13)) {
    read_column(row, 13, event.verification.emplace());
  }
  if (!row.is_null(14)) {
    read_column(row, 14, event.outcome.emplace());
  }
  return event;
}

/// `digest` is that of the problem. Nothing when the row is damaged, or not the event of that
/// number.
std::optional<JournalEvent> readable(const Statement& row, std::int64_t seq, Digest digest) {
  digest.add_row(row, 1);
  if (row.text(0) != digest.hex() || row.integer(1) != seq) {
    return std::nullopt;
  }
  try {
    return read_event(row);
  } catch (const Error&) {
    return std::nullopt;
  }
}

/// Digest of the problem that the events belong to, so that no damage assigns them to another
/// problem.
Digest problem_digest(Database& database, std::int64_t run_problem) {
  Statement row = database.prepare(std::string("SELECT ") + kDigestedProblem +
                                   ", rp.repetition, r.conditions, r.plan FROM run_problems rp "
                                   "JOIN problems p ON p.id = rp.problem "
                                   "JOIN runs r ON r.id = rp.run WHERE rp.id = ?");
  row.bind(run_problem);
  Digest digest;
  while (row.step()) {
    digest.add_row(row);
  }
  return digest;
}

std::int64_t next_seq(Database& database, std::int64_t run_problem) {
  Statement last = database.prepare("SELECT max(seq) FROM journal WHERE run_problem = ?");
  last.bind(run_problem);
  return last.step() && !last.is_null(0) ? last.integer(0) + 1 : 0;
}

}  // namespace

Journal::Journal(Database& database, std::int64_t run_problem)
    : database_(&database),
      insert_(database.prepare(kInsert)),
      run_problem_(run_problem),
      problem_(problem_digest(database, run_problem)),
      next_(next_seq(database, run_problem)) {}

void Journal::insert(std::int64_t seq, const JournalEvent& event) {
  with_columns(seq, event, [this](const auto&... columns) {
    Digest digest = problem_;
    (digest.add(columns), ...);
    insert_.bind(run_problem_, digest.hex(), columns...).run();
  });
}

void Journal::add(const JournalEvent& event) {
  insert(next_, event);
  ++next_;
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

void Journal::clear() {
  database_->prepare("DELETE FROM journal WHERE run_problem = ?").bind(run_problem_).run();
  next_ = 0;
}

std::vector<JournalEvent> load_journal(Database& database, std::int64_t run_problem) {
  Statement rows = database.prepare(kSelect);
  rows.bind(run_problem);
  const Digest problem = problem_digest(database, run_problem);
  std::vector<JournalEvent> events;
  while (rows.step()) {
    auto event = readable(rows, static_cast<std::int64_t>(events.size()), problem);
    if (!event) {
      break;
    }
    events.push_back(*std::move(event));
  }
  return events;
}

std::vector<JournalEvent> recall_journal(Database& database, const RunIdentity& identity,
                                         std::int64_t except_run, const Problem& problem,
                                         int repetition) {
  Statement found = database.prepare(
      std::string("SELECT rp.id FROM run_problems rp JOIN problems p ON p.id = rp.problem WHERE ") +
      kOfProblem + " AND rp.run IN (" + kUnfinishedRuns +
      ") AND EXISTS (SELECT 1 FROM journal j WHERE j.run_problem = rp.id) "
      "ORDER BY rp.id DESC LIMIT 1");
  bind_problem(found, problem, repetition, except_run, identity.plan, identity.plan, identity.plan);
  if (!found.step() || !is_of_problem(database, found.integer(0), identity, problem, repetition)) {
    return {};
  }
  return load_journal(database, found.integer(0));
}

}  // namespace fatune
