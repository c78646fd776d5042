// The events that a race was told are kept in order, and damaged ones are not taken for events.
#include "store/recall.hpp"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <tuple>

#include "model/record_json.hpp"
#include "unit/store/run_samples.hpp"
#include "unit/store/store_folder.hpp"

namespace fatune {
namespace {

using Kind = JournalEvent::Kind;

JournalEvent admission(const std::string& config) {
  JournalEvent event;
  event.kind = Kind::admitted;
  event.config = config;
  event.artifact_key = "key of " + config;
  event.launch = sample_launch();
  event.us = 100.0 / 3.0;
  event.elapsed_s = 0.25;
  event.verification = sample_measurement(1.0).verification;
  return event;
}

JournalEvent sample(const std::string& config, double us) {
  JournalEvent event;
  event.config = config;
  event.us = us;
  event.elapsed_s = us / 7.0;
  return event;
}

JournalEvent sample_with_reading(const std::string& config, double us) {
  JournalEvent event = sample(config, us);
  event.throttled = true;
  event.reading = GpuReading{1980.0, 612.5, 71.0, 0xfffffff0};
  return event;
}

JournalEvent turn(const std::string& config) {
  JournalEvent event = sample(config, 120.5);
  event.kind = Kind::turn;
  event.reading = GpuReading{1545.0, 700.0, 71.0, 0x4};
  return event;
}

JournalEvent failure(const std::string& config) {
  JournalEvent event;
  event.kind = Kind::failed;
  event.config = config;
  event.elapsed_s = 3.0;
  event.outcome = Crashed{"CUDA_ERROR_ILLEGAL_ADDRESS: an illegal access"};
  return event;
}

JournalEvent closing() {
  JournalEvent event;
  event.kind = Kind::closed;
  event.elapsed_s = 4.0;
  return event;
}

std::vector<JournalEvent> one_event_of_each() {
  return {admission("a"), admission("b"), sample("a", 100.1), sample_with_reading("b", 99.9),
          failure("b"),   closing(),      sample("a", 1e-3),  turn("a")};
}

std::string text_of(const std::optional<GpuReading>& reading) {
  return reading ? testing::PrintToString(std::tuple(reading->sm_mhz, reading->power_w,
                                                     reading->temperature_c, reading->clock_limits))
                 : "none";
}

void expect_same(const JournalEvent& after, const JournalEvent& before) {
  EXPECT_EQ(after.kind, before.kind);
  EXPECT_EQ(after.config, before.config);
  EXPECT_EQ(after.artifact_key, before.artifact_key);
  EXPECT_EQ(record_json(after.launch), record_json(before.launch));
  EXPECT_EQ(after.us, before.us);
  EXPECT_EQ(after.throttled, before.throttled);
  EXPECT_EQ(after.elapsed_s, before.elapsed_s);
  EXPECT_EQ(text_of(after.reading), text_of(before.reading));
  ASSERT_EQ(after.verification.has_value(), before.verification.has_value());
  if (before.verification) {
    EXPECT_EQ(record_json(*after.verification), record_json(*before.verification));
  }
  ASSERT_EQ(after.outcome.has_value(), before.outcome.has_value());
  if (before.outcome) {
    EXPECT_EQ(record_json(*after.outcome), record_json(*before.outcome));
  }
}

void expect_same(const std::vector<JournalEvent>& after, const std::vector<JournalEvent>& before) {
  ASSERT_EQ(after.size(), before.size());
  for (std::size_t i = 0; i < before.size(); ++i) {
    SCOPED_TRACE(i);
    expect_same(after[i], before[i]);
  }
}

class JournalTest : public StoreFolder {
 protected:
  /// Stores a run that begins the problem and is told `events`. Returns its row in run_problems.
  std::int64_t store_run(const std::vector<JournalEvent>& events, const NewRun& run = sample_run(),
                         bool complete = false) {
    RunWriter writer(database_, run);
    writer.begin_problem(sample_problem());
    Journal journal(database_, writer.run_problem());
    for (const JournalEvent& event : events) {
      journal.add(event);
    }
    if (complete) {
      writer.end_run(run_end(1.0, true));
    }
    return writer.run_problem();
  }
  [[nodiscard]] std::vector<JournalEvent> recalled(std::int64_t seq_len = 512, int repetition = 2) {
    return recall_journal({database_, sample_run().identity, kNewRun},
                          sample_problem(seq_len).problem, repetition);
  }

  static constexpr std::int64_t kNewRun = 1000;
  Database database_ = open();
};

TEST_F(JournalTest, EveryEventComesBackInOrder) {
  expect_same(load_journal(database_, store_run(one_event_of_each())), one_event_of_each());
}

TEST_F(JournalTest, AnEventIsThereForOthersAtOnce) {
  RunWriter writer(database_, sample_run());
  writer.begin_problem(sample_problem());
  Journal journal(database_, writer.run_problem());
  Database other = open();
  journal.add(sample("a", 1.0));
  EXPECT_EQ(load_journal(other, writer.run_problem()).size(), 1U);
}

/// Stores events without end, and writes a byte to `out` after each.
[[noreturn]] void journal_without_end(const std::filesystem::path& path, int out) {
  Database database = open_store(path, Database::Mode::create);
  RunWriter writer(database, sample_run());
  writer.begin_problem(sample_problem());
  Journal journal(database, writer.run_problem());
  for (;;) {
    journal.add(sample_with_reading("a", 1.0));
    if (::write(out, "x", 1) != 1) {
      std::_Exit(1);
    }
  }
}

TEST_F(JournalTest, AKillLosesAtMostTheEventInFlight) {
  const auto file = folder_ / "killed.db";  // not open here: SQLite's locks do not survive a fork
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    journal_without_end(file, ends[1]);
  }
  ::close(ends[1]);
  constexpr std::size_t kEnough = 500;
  std::size_t told = 0;
  std::array<char, 64> buffer{};
  for (ssize_t count = 1; count > 0; told += static_cast<std::size_t>(count)) {
    if (told >= kEnough) {
      ::kill(child, SIGKILL);
    }
    count = ::read(ends[0], buffer.data(), buffer.size());
    ASSERT_GE(count, 0);
  }
  ::close(ends[0]);
  ::waitpid(child, nullptr, 0);
  EXPECT_GE(told, kEnough);
  Database database = open_store(file, Database::Mode::existing);
  const std::size_t stored = load_journal(database, 1).size();
  EXPECT_GE(stored, told);
  EXPECT_LE(stored, told + 1);
}

TEST_F(JournalTest, ItGoesOnAfterWhatIsThere) {
  const std::int64_t run_problem = store_run({admission("a"), sample("a", 1.0)});
  Journal(database_, run_problem).add(sample("a", 2.0));
  expect_same(load_journal(database_, run_problem),
              {admission("a"), sample("a", 1.0), sample("a", 2.0)});
}

TEST_F(JournalTest, ManyAreAddedWholeOrNotAtAll) {
  const std::int64_t run_problem = store_run({});
  Journal journal(database_, run_problem);
  database_.execute(
      "CREATE TEMP TRIGGER full BEFORE INSERT ON journal WHEN new.seq = 3 "
      "BEGIN SELECT raise(ABORT, 'full'); END");
  EXPECT_THROW(journal.add_all(one_event_of_each()), Error);
  EXPECT_TRUE(load_journal(database_, run_problem).empty());
}

TEST_F(JournalTest, AnUnfinishedRunsJournalIsTakenOver) {
  EXPECT_TRUE(recalled().empty());
  store_run(one_event_of_each());
  expect_same(recalled(), one_event_of_each());
}

TEST_F(JournalTest, OnlyForTheSameProblemRepetitionAndPlan) {
  NewRun other = sample_run();
  other.identity.plan = "other";
  store_run(one_event_of_each(), other);
  EXPECT_TRUE(recalled().empty());
  store_run(one_event_of_each());
  EXPECT_TRUE(recalled(1024).empty());
  EXPECT_TRUE(recalled(512, 1).empty());
  EXPECT_FALSE(recalled().empty());
}

TEST_F(JournalTest, ARunThatIsCompleteOrBeganAnewEndsWhatCameBefore) {
  store_run(one_event_of_each());
  NewRun anew = sample_run();
  anew.anew = true;
  store_run({}, anew);
  EXPECT_TRUE(recalled().empty());
  store_run({admission("c")});
  EXPECT_EQ(recalled().size(), 1U);
  store_run({}, sample_run(), true);
  EXPECT_TRUE(recalled().empty());
}

TEST_F(JournalTest, TheLatestIsTakenThatHasAnything) {
  store_run(one_event_of_each());
  store_run({admission("c"), sample("c", 5.0)});
  store_run({});  // killed before it had taken anything over
  expect_same(recalled(), {admission("c"), sample("c", 5.0)});
}

TEST_F(JournalTest, DamageEndsItWhereverItIs) {
  for (const char* damage :
       {"kind = 'sample', us = -1", "seq = 1000", "kind = 'x'", "outcome = '{}'"}) {
    const std::int64_t run_problem = store_run(one_event_of_each());
    database_
        .prepare("UPDATE journal SET " + std::string(damage) + " WHERE seq = 3 AND run_problem = ?")
        .bind(run_problem)
        .run();
    EXPECT_EQ(load_journal(database_, run_problem).size(), 3U) << damage;
  }
}

TEST_F(JournalTest, ALostEventEndsIt) {
  store_run(one_event_of_each());
  database_.execute("DELETE FROM journal WHERE seq = 2");
  EXPECT_EQ(recalled().size(), 2U);
  database_.execute("DELETE FROM journal WHERE seq = 0");
  EXPECT_TRUE(recalled().empty());
}

}  // namespace
}  // namespace fatune
