#include "store/journal.hpp"

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "core/error.hpp"
#include "core/outcome.hpp"
#include "store/stored_result.hpp"

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
  event.kind = parse_enum<Kind>(row.text(1));
  event.config = row.text(2);
  event.artifact_key = row.text(3);
  read_if_there<LaunchGeometry>(row, 4, event.launch);
  event.us = row.real(5);
  if (event.kind == Kind::sample) {
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
  Statement last = database.prepare("SELECT max(seq) FROM journal WHERE run_problem = ?");
  last.bind(run_problem);
  return last.step() && !last.is_null(0) ? last.integer(0) + 1 : 0;
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

}  // namespace fatune
