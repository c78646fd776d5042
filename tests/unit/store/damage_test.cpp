// A damaged file is refused with an error that names it, or is read.
#include <fstream>
#include <random>

#include "base/error.hpp"
#include "store/recall.hpp"
#include "store/run_reader.hpp"
#include "unit/store/run_samples.hpp"
#include "unit/store/store_folder.hpp"

namespace fatune {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kNewRun = 1000;

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

  static void look(Database& database) {
    (void)list_runs(database);
    const RunIdentity identity = sample_run().identity;
    const Problem problem = sample_problem().problem;
    (void)recall_unfinished({database, identity, kNewRun}, {problem, 2, "key-1", sample_launch()});
    (void)recall_problem({database, identity, kNewRun}, problem, 2);
    (void)recall_journal({database, identity, kNewRun}, problem, 2);
    (void)load_run(database, 1);
  }

  void write(const std::string& bytes) const {
    fs::remove(path_.string() + "-wal");
    fs::remove(path_.string() + "-shm");
    std::ofstream(path_, std::ios::binary) << bytes;
  }

  /// Returns true if the file can be read as a whole.
  bool read(const std::string& bytes) {
    write(bytes);
    try {
      Database database = open();
      look(database);
      return true;
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr(path_.string()));
      return false;
    }
  }

  std::string bytes_;
};

TEST_F(Damage, AFlippedByteIsReadOrRefused) {
  std::mt19937_64 random(7);
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
    (void)read(damaged);
  }
}

TEST_F(Damage, ATruncatedFileIsRefused) {
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
  database.execute("UPDATE outcomes SET result = substr(result, 2) WHERE run_problem = 1");
  const RunList list = list_runs(database);
  ASSERT_EQ(list.runs.size(), 1U);
  EXPECT_EQ(list.runs[0].id, 2);
  EXPECT_EQ(list.damaged, std::vector<std::int64_t>{1});
}

}  // namespace
}  // namespace fatune
