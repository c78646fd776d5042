// A damaged file is refused, or gives what was written. It never gives anything else.
#include <fstream>
#include <random>
#include <tuple>

#include "core/error.hpp"
#include "record/record_json.hpp"
#include "store/journal.hpp"
#include "store/recall.hpp"
#include "store/run_reader.hpp"
#include "unit/store/run_samples.hpp"
#include "unit/store/store_folder.hpp"

namespace fatune {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kNewRun = 1000;

std::string text_of(const Result& result) {
  return result.short_form + result.kernel_name + result.artifact_key + result.same_code_as +
         result.pruned_by + record_text(record_json(result.config)) +
         record_text(record_json(*result.facts)) + record_text(record_json(result.outcome)) +
         testing::PrintToString(
             std::tuple(result.dynamic_smem_bytes, result.threads_per_block, result.blocks_per_sm,
                        result.compile_ms, result.total_flop.value_or(0), result.from_cache,
                        result.reused, result.rank, result.tie_group, result.relative_percent));
}

std::string text_of(const ProblemReport& report) {
  std::string text = record_text(record_json(report.problem)) + report.device_uuid +
                     testing::PrintToString(std::tuple(report.run, report.pruned, report.invalid));
  for (const auto* list : {&report.ranking, &report.failures, &report.audited}) {
    for (const Result& result : *list) {
      text += text_of(result) + '\n';
    }
    text += "--\n";
  }
  return text;
}

std::string text_of(const StoredRun& run) {
  std::string text = run.header.command_line + run.header.started_at + run.header.space +
                     record_text(record_json(run.header.device)) +
                     record_text(record_json(run.header.policy)) +
                     record_text(record_json(*run.baseline)) +
                     testing::PrintToString(std::tuple(run.header.wall_s, run.header.complete));
  for (const StoredProblem& problem : run.problems) {
    text += text_of(problem.report);
  }
  return text;
}

std::string text_of(const RunSummary& run) {
  return testing::PrintToString(std::tuple(run.id, run.started_at, run.device, run.command_line,
                                           run.complete, run.problems, run.outcomes)) +
         (run.best ? run.best->short_form + std::to_string(run.best->time_us) : "");
}

std::string text_of(const JournalEvent& event) {
  return event.config + event.artifact_key + record_text(record_json(event.launch)) +
         record_text(record_json(event.verification.value_or(Verification{}))) +
         testing::PrintToString(
             std::tuple(static_cast<int>(event.kind), event.us, event.throttled, event.elapsed_s));
}

/// The parts of the file that a reader may see. Each is as it was written, or missing.
struct Seen {
  std::string run;
  std::string summary;
  std::string measurement;
  std::string problem;
  std::vector<std::string> journal;
};

class Damage : public StoreFolder {
 protected:
  Damage() {
    {
      Database database = open();
      write_run(database);
    }
    std::ifstream file(path_, std::ios::binary);
    bytes_.assign(std::istreambuf_iterator<char>(file), {});
  }

  static void write_run(Database& database) {
    RunWriter writer(database, sample_run());
    ProblemReport report = sample_problem();
    writer.begin_problem(report);
    Journal journal(database, writer.run_problem());
    for (int i = 0; i < 20; ++i) {
      JournalEvent event;
      event.config = "(FP16, 1): fast";
      event.us = 100.0 + i;
      journal.add(event);
    }
    report.ranking = {sample_result(1, sample_measurement(100.0))};
    report.failures = {sample_result(2, Crashed{"no"})};
    writer.add(report.ranking[0], tried());
    writer.add(report.failures[0], tried());
    report.ranking[0].rank = 1;
    report.ranking[0].relative_percent = 100.0;
    writer.end_problem(report, true);
  }

  static Seen look(Database& database) {
    Seen seen;
    const RunList list = list_runs(database);
    const RunIdentity identity = sample_run().identity;
    const Problem problem = sample_problem().problem;
    if (!list.runs.empty()) {
      seen.summary = text_of(list.runs[0]);
    }
    if (auto found = recall_unfinished(database, identity, kNewRun,
                                       {problem, 2, "key-1", sample_launch()})) {
      seen.measurement = record_text(record_json(found->outcome));
    }
    if (auto found = recall_problem(database, identity, kNewRun, problem, 2)) {
      seen.problem = text_of(found->report);
    }
    for (const JournalEvent& event : recall_journal(database, identity, kNewRun, problem, 2)) {
      seen.journal.push_back(text_of(event));
    }
    if (auto run = load_run(database, 1)) {
      seen.run = text_of(*run);
    }
    return seen;
  }

  static void expect_part(const std::string& part, const std::string& whole) {
    EXPECT_TRUE(part.empty() || part == whole) << part << "\nin place of\n" << whole;
  }

  void write(const std::string& bytes) const {
    fs::remove(path_.string() + "-wal");
    fs::remove(path_.string() + "-shm");
    std::ofstream(path_, std::ios::binary) << bytes;
  }

  /// Returns true if the file can be read as a whole. The test fails if it gives what was not
  /// written.
  bool read(const std::string& bytes) {
    write(bytes);
    try {
      Database database = open();
      const Seen seen = look(database);
      expect_part(seen.run, whole_.run);
      expect_part(seen.summary, whole_.summary);
      expect_part(seen.measurement, whole_.measurement);
      expect_part(seen.problem, whole_.problem);
      EXPECT_LE(seen.journal.size(), whole_.journal.size());
      for (std::size_t i = 0; i < seen.journal.size() && i < whole_.journal.size(); ++i) {
        EXPECT_EQ(seen.journal[i], whole_.journal[i]);
      }
      return seen.run == whole_.run && seen.journal == whole_.journal;
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr(path_.string()));
      return false;
    }
  }

  void remember_whole() {
    Database database = open();
    whole_ = look(database);
  }

  std::string bytes_;
  Seen whole_;
};

TEST_F(Damage, NoneIsReadWhole) {
  remember_whole();
  EXPECT_TRUE(read(bytes_));
  EXPECT_FALSE(whole_.problem.empty());
  EXPECT_EQ(whole_.journal.size(), 20U);
}

TEST_F(Damage, AFlippedByteIsNeverReadAsAnotherValue) {
  remember_whole();
  std::mt19937_64 random(7);
  int refused = 0;
  constexpr int kTrials = 60;
  for (int i = 0; i < kTrials; ++i) {
    // Damages a byte that holds something, because most of a page of this small file is free.
    std::size_t at = random() % bytes_.size();
    while (bytes_[at] == '\0') {
      at = random() % bytes_.size();
    }
    SCOPED_TRACE(at);
    std::string damaged = bytes_;
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << (random() % 8)));
    refused += read(damaged) ? 0 : 1;
  }
  EXPECT_GT(refused, kTrials / 4);
}

TEST_F(Damage, ATruncatedFileIsRefused) {
  remember_whole();
  constexpr std::size_t kParts = 12;
  for (std::size_t part = 1; part < kParts; ++part) {
    const std::size_t length = bytes_.size() * part / kParts;
    SCOPED_TRACE(length);
    EXPECT_FALSE(read(bytes_.substr(0, length)));
  }
}

TEST_F(Damage, AnEmptyFileIsANewDatabase) {
  write("");
  Database database = open();
  EXPECT_TRUE(list_runs(database).runs.empty());
  write_run(database);
  EXPECT_EQ(list_runs(database).runs.size(), 1U);
}

TEST_F(Damage, ADamagedRunIsLeftOutOfTheList) {
  Database database = open();
  write_run(database);
  database.execute("UPDATE outcomes SET time_us = time_us / 2 WHERE run_problem = 1");
  const RunList list = list_runs(database);
  ASSERT_EQ(list.runs.size(), 1U);
  EXPECT_EQ(list.runs[0].id, 2);
  EXPECT_EQ(list.damaged, std::vector<std::int64_t>{1});
}

}  // namespace
}  // namespace fatune
