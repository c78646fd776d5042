#include "store/journal.hpp"

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "core/error.hpp"
#include "core/outcome.hpp"
#include "store/recall.hpp"
#include "store/seal.hpp"
#include "store/stored_result.hpp"

namespace fatune {
namespace {

using Kind = JournalEvent::Kind;

template <typename Member>
std::optional<Member> only_if(bool there, const Member& member) {
  return there ? std::optional(member) : std::nullopt;
}

/// Calls `use` with an event's columns, without run_problem and digest.
template <typename Use>
void with_columns(std::int64_t seq, const JournalEvent& event, Use use) {
  const bool admitted = event.kind == Kind::admitted;
  const bool sample = event.kind == Kind::sample;
  const auto& reading = event.reading;
  const GpuReading read = reading.value_or(GpuReading{});
  use(seq, std::string(enum_name(event.kind)), event.config, only_if(admitted, event.artifact_key),
      only_if(admitted, launch_column(event.launch)), only_if(admitted || sample, event.us),
      only_if(sample, event.throttled), event.elapsed_s, only_if(reading.has_value(), read.sm_mhz),
      only_if(reading.has_value(), read.power_w), only_if(reading.has_value(), read.temperature_c),
      only_if(reading.has_value(), read.clock_limits),
      event.verification ? std::optional(column_text(*event.verification)) : std::nullopt,
      event.outcome ? std::optional(column_text(*event.outcome)) : std::nullopt);
}

/// The digest, then the columns in the order of with_columns().
constexpr const char* kColumns =
    "digest, seq, kind, config, artifact_key, launch, us, throttled, elapsed_s, sm_mhz, power_w, "
    "temperature_c, clock_limits, verification, outcome";

Statement prepare_insert(Database& database) {
  return database.prepare(fmt::format(
      "INSERT INTO journal (run_problem, {}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
      "?)",
      kColumns));
}

Statement select_events(Database& database, std::int64_t run_problem) {
  Statement rows = database.prepare(
      fmt::format("SELECT {} FROM journal WHERE run_problem = ? ORDER BY seq", kColumns));
  rows.bind(run_problem);
  return rows;
}

template <typename Value, typename Member>
void read_if_there(const Statement& row, int column, Member& member) {
  if (!row.is_null(column)) {
    member = read_column<Value>(row, column);
  }
}

JournalEvent read_event(const Statement& row) {
  JournalEvent event;
  event.kind = parse_enum<Kind>(row.text(2));
  event.config = row.text(3);
  event.artifact_key = row.text(4);
  read_if_there<LaunchGeometry>(row, 5, event.launch);
  event.us = row.real(6);
  if (event.kind == Kind::sample) {
    check_kernel_time(event.us, "us");
  }
  event.throttled = row.flag(7);
  event.elapsed_s = row.real(8);
  if (!row.is_null(9)) {
    event.reading = GpuReading{row.real(9), row.real(10), row.real(11),
                               static_cast<std::uint32_t>(row.integer(12))};
  }
  read_if_there<Verification>(row, 13, event.verification);
  read_if_there<Outcome>(row, 14, event.outcome);
  return event;
}

/// Reads an event. `digest` is the digest of the problem. Returns nothing if the row is damaged or
/// does not have the number `seq`.
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

/// The digest of the problem that the events belong to. It keeps damage from assigning events to
/// another problem.
Digest problem_digest(Database& database, std::int64_t run_problem) {
  Statement row = database.prepare(
      "SELECT rp.problem, rp.repetition, r.conditions, r.plan FROM run_problems rp "
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
      insert_(prepare_insert(database)),
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
  Statement rows = select_events(database, run_problem);
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
  const auto found =
      find_unfinished_problem(database, identity, except_run, problem, repetition,
                              "EXISTS (SELECT 1 FROM journal j WHERE j.run_problem = rp.id)");
  return found ? load_journal(database, *found) : std::vector<JournalEvent>();
}

}  // namespace fatune
