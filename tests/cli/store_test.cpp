// Tests the database of measurements, through the program and the fake driver.
#include "cli/program.hpp"

#include <signal.h>

#include <chrono>
#include <filesystem>

#include "store/database.hpp"

namespace fatune::testing_cli {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kDefaultFile = ".local/share/fatune/fatune.db";
constexpr const char* kOther =
    "(FP16, 128, 64, 32, 4): async+eager+swizzled+load_2_2_2_tiles+buffer+opt_softmax";

class Storing : public ProgramTest {
 protected:
  Storing() { use_gpu_that_never_runs_kernels(); }

  static std::vector<std::string> run_of(const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"run",     "--config", kConfig,     "--batch", "1",
                                       "--heads", "1",        "--repeats", "5"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
  /// How many outcomes a run has, and how many of them it took from earlier runs.
  static std::pair<int, int> counts(const json& report) {
    std::pair<int, int> counts{0, 0};
    for (const json& problem : report["problems"]) {
      for (const char* list : {"ranking", "failures"}) {
        for (const json& entry : problem[list]) {
          ++counts.first;
          counts.second += entry["reused"] ? 1 : 0;
        }
      }
    }
    return counts;
  }
  /// The same counts of a stored run.
  std::pair<int, int> stored_counts(const std::string& run) {
    return counts(fatune_json({"show", run, "--format", "json"}));
  }
  /// How many repetitions have all their samples in the journal, but no outcome: none, or the one
  /// that a kill interrupted.
  int journaled_whole() {
    Database database(path(kDefaultFile), Database::Mode::existing, std::chrono::seconds(5));
    return static_cast<int>(database.value(
        "SELECT count(*) FROM run_problems p "
        "WHERE NOT EXISTS (SELECT 1 FROM outcomes o WHERE o.run_problem = p.id) AND "
        "(SELECT count(*) FROM journal j WHERE j.run_problem = p.id AND j.kind = 'sample') = 5"));
  }
  /// Ends the program by a signal when it reports this progress.
  void stop_at(const char* progress, int signal) {
    process_.when_err_has = progress;
    process_.then = [signal](pid_t pid) { ::kill(pid, signal); };
  }
  void let_run() { process_.then = nullptr; }
};

TEST_F(Storing, ShowPrintsARunAgainInEveryFormat) {
  for (const std::string format : {"table", "json", "csv", "md"}) {
    const ProcessResult printed = fatune(run_of({"--seq", "128,256", "--format", format}));
    expect_ok(printed);
    const ProcessResult shown = fatune({"show", "last", "--format", format});
    expect_ok(shown);
    EXPECT_EQ(shown.out, printed.out) << format;
  }
}

TEST_F(Storing, ShowPrintsTheRunOfAFile) {
  const ProcessResult printed = fatune(run_of({"--seq", "128,256", "--out", path("out")}));
  expect_ok(printed);
  const ProcessResult shown = fatune({"show", path("out/results.json")});
  expect_ok(shown);
  EXPECT_EQ(shown.out, printed.out);
  const ProcessResult winners = fatune({"show", path("out/best_configs.json"), "--plot"});
  expect_ok(winners);
  EXPECT_THAT(winners.out, HasSubstr(kConfig));
}

TEST_F(Storing, HistoryListsTheRunsTheLatestFirst) {
  expect_ok(fatune(run_of({"--seq", "128"})));
  expect_ok(fatune(run_of({"--seq", "128,256"})));
  const ProcessResult result = fatune({"history", "--format", "json"});
  expect_ok(result);
  expect_schema(result.out, "history");
  const json runs = json::parse(result.out)["runs"];
  ASSERT_EQ(runs.size(), 2U);
  EXPECT_EQ(runs[0]["run"], 2);
  EXPECT_EQ(runs[0]["problems"], 2);
  EXPECT_EQ(runs[0]["outcomes"], 2);
  EXPECT_EQ(runs[0]["complete"], true);
  EXPECT_EQ(runs[0]["best_config"], kConfig);
  EXPECT_THAT(std::string(runs[1]["command_line"]), HasSubstr("fatune run"));
  EXPECT_THAT(fatune({"history"}).out, HasSubstr("Fake H200"));
}

TEST_F(Storing, ACompleteRunIsMeasuredAnew) {
  expect_ok(fatune(run_of({"--seq", "128"})));
  expect_ok(fatune(run_of({"--seq", "128"})));
  EXPECT_EQ(stored_counts("2"), std::pair(1, 0));
}

TEST_F(Storing, ReuseMeasuresOnlyWhatIsNew) {
  expect_ok(fatune(run_of({"--seq", "128,256"})));
  const ProcessResult result =
      fatune(run_of({"--seq", "128,256", "--config", kOther, "--reuse", "--format", "json"}));
  expect_ok(result);
  expect_schema(result.out, "results");
  EXPECT_EQ(counts(json::parse(result.out)), std::pair(4, 2));
  EXPECT_THAT(fatune({"show", "2"}).out, HasSubstr("; 1 reused"));
}

TEST_F(Storing, ReuseDoesNotTakeAnotherPolicysMeasurements) {
  expect_ok(fatune(run_of({"--seq", "128"})));
  expect_ok(fatune(run_of({"--seq", "128", "--reuse", "--no-flush"})));
  EXPECT_EQ(stored_counts("2"), std::pair(1, 0));
}

TEST_F(Storing, AKilledRunIsContinuedAndNothingIsMeasuredTwice) {
  // Many repetitions: on a busy machine some are measured before the kill arrives.
  const auto arguments = run_of({"--seq", "128", "--runs", "24"});
  stop_at("[2/24]", SIGKILL);
  EXPECT_EQ(fatune(arguments).exit_code, 128 + SIGKILL);
  let_run();
  const int before = stored_counts("1").first;
  ASSERT_GE(before, 2);
  ASSERT_LT(before, 24);
  const int journaled = journaled_whole();
  const ProcessResult resumed = fatune(arguments);
  expect_ok(resumed);
  EXPECT_THAT(resumed.err, HasSubstr("continuing an interrupted run"));
  EXPECT_EQ(stored_counts("2"), std::pair(24, before + journaled));
}

TEST_F(Storing, AnInterruptSaysHowToGoOn) {
  const auto arguments = run_of({"--seq", "128", "--runs", "1000"});
  stop_at("[5/1000]", SIGINT);
  const ProcessResult result = fatune(arguments);
  let_run();
  EXPECT_EQ(result.exit_code, static_cast<int>(ExitCode::interrupted));
  EXPECT_THAT(result.err, HasSubstr("the same command resumes from there"));
  EXPECT_EQ(fatune({"show", "1"}).out, result.out);
}

TEST_F(Storing, FreshMeasuresAnew) {
  const auto arguments = run_of({"--seq", "128", "--runs", "8"});
  stop_at("[2/8]", SIGKILL);
  (void)fatune(arguments);
  let_run();
  auto fresh = arguments;
  fresh.emplace_back("--fresh");
  expect_ok(fatune(fresh));
  EXPECT_EQ(stored_counts("2"), std::pair(8, 0));
}

TEST_F(Storing, NoDbStoresNothing) {
  expect_ok(fatune(run_of({"--seq", "128", "--no-db"})));
  EXPECT_THAT(fatune({"history"}).out, HasSubstr("no run is stored"));
  EXPECT_FALSE(std::filesystem::exists(path(".local/share/fatune")));
}

TEST_F(Storing, TheFolderIsXdgDataHome) {
  process_.environment["XDG_DATA_HOME"] = path("data");
  expect_ok(fatune(run_of({"--seq", "128"})));
  EXPECT_TRUE(std::filesystem::exists(path("data/fatune/fatune.db")));
}

TEST_F(Storing, ADamagedDatabaseIsAWarningAndResultsAreWritten) {
  write("bad.db", std::string(10000, 'x'));
  const ProcessResult result =
      fatune(run_of({"--seq", "128", "--db", path("bad.db"), "--out", path("out")}));
  expect_ok(result);
  EXPECT_THAT(result.err, HasSubstr("results are not stored"));
  EXPECT_THAT(result.err, HasSubstr("not a SQLite database"));
  EXPECT_EQ(counts(json::parse(read("out/results.json"))), std::pair(1, 0));
  EXPECT_EQ(read("bad.db"), std::string(10000, 'x'));
  expect_error(fatune({"history", "--db", path("bad.db")}), ExitCode::bad_file, {"bad.db"});
  expect_error(fatune({"show", "1", "--db", path("bad.db")}), ExitCode::bad_file, {"bad.db"});
}

TEST_F(Storing, AFolderThatCannotBeMadeIsAWarning) {
  write("plain", "x");
  const ProcessResult result = fatune(run_of({"--seq", "128", "--db", path("plain/x.db")}));
  expect_ok(result);
  EXPECT_THAT(result.err, HasSubstr("results are not stored"));
}

TEST_F(Storing, ADeviceThatIsFullIsAWarning) {
  const ProcessResult result = fatune(run_of({"--seq", "128", "--db", "/dev/full"}));
  expect_ok(result);
  EXPECT_THAT(result.err, HasSubstr("results are not stored: /dev/full"));
}

TEST_F(Storing, AFolderInItsPlaceIsAWarning) {
  const ProcessResult result = fatune(run_of({"--seq", "128", "--db", path(".")}));
  expect_ok(result);
  EXPECT_THAT(result.err, HasSubstr("results are not stored"));
  expect_error(fatune({"history", "--db", path(".")}), ExitCode::io, {"cannot use the database"});
}

class FullDisk : public Storing, public testing::WithParamInterface<int> {};

// The disk becomes full at different points between two transactions.
INSTANTIATE_TEST_SUITE_P(KiB, FullDisk, testing::Values(192, 194, 196, 256));

TEST_P(FullDisk, LeavesWhatWasStored) {
  const std::string limit = std::to_string(2 * GetParam());  // enough for a few outcomes
  std::vector<std::string> command{"/bin/sh", "-c", "ulimit -f " + limit + "; exec \"$0\" \"$@\"",
                                   FATUNE_PROGRAM};
  const auto arguments = run_of({"--seq", "128", "--runs", "4", "--format", "json"});
  command.insert(command.end(), arguments.begin(), arguments.end());
  const ProcessResult result = run_process(command, process_);
  expect_ok(result);
  EXPECT_THAT(result.err, HasSubstr("results are not stored"));
  EXPECT_EQ(counts(json::parse(result.out)), std::pair(4, 0));
  const int stored = stored_counts("1").first;
  EXPECT_GT(stored, 0);
  EXPECT_LT(stored, 4);
  const ProcessResult resumed = fatune(arguments);
  expect_ok(resumed);
  const auto [all, reused] = counts(json::parse(resumed.out));
  EXPECT_EQ(all, 4);
  EXPECT_GE(reused, stored) << "the journal may have all samples of one more";
  EXPECT_LT(reused, 4);
}

TEST_F(Storing, ADatabaseOfAnotherFormatOrProgramIsLeftAlone) {
  expect_ok(fatune(run_of({"--seq", "128"})));
  const std::string whole = read(kDefaultFile);
  constexpr std::size_t kUserVersion = 63;    // last byte of four in SQLite's header
  constexpr std::size_t kApplicationId = 71;  // the same
  for (const auto& [at, reason] :
       {std::pair(kUserVersion, "has format 120"), std::pair(kApplicationId, "another program")}) {
    std::string other = whole;
    other[at] = 'x';
    write("other.db", other);
    const ProcessResult result =
        fatune(run_of({"--seq", "128", "--db", path("other.db"), "--format", "json"}));
    expect_ok(result);
    EXPECT_THAT(result.err, HasSubstr(reason));
    EXPECT_EQ(counts(json::parse(result.out)), std::pair(1, 0));
    EXPECT_EQ(read("other.db"), other);
    expect_error(fatune({"show", "1", "--db", path("other.db")}), ExitCode::bad_file, {reason});
  }
}

TEST_F(Storing, ADatabaseCutOffAnywhereIsAWarning) {
  expect_ok(fatune(run_of({"--seq", "128"})));
  const std::string whole = read(kDefaultFile);
  for (const std::size_t length : {whole.size() * 9 / 10, whole.size() / 2, std::size_t{1000}}) {
    write("cut.db", whole.substr(0, length));
    const ProcessResult result = fatune(run_of({"--seq", "128", "--db", path("cut.db")}));
    expect_ok(result);
    EXPECT_THAT(result.err, HasSubstr("results are not stored")) << length;
    expect_error(fatune({"history", "--db", path("cut.db")}), ExitCode::bad_file, {"cut.db"});
  }
}

/// The end of the last page is missing, which shows only when the page is read.
TEST_F(Storing, ADatabaseCutOffByAByteShowsNothingThatIsNotSo) {
  const auto arguments = run_of({"--seq", "128", "--format", "json"});
  expect_ok(fatune(arguments));
  const std::string whole = read(kDefaultFile);
  const std::string shown = fatune({"show", "1", "--format", "json"}).out;
  for (const std::size_t missing : {1U, 2U, 100U}) {
    write("cut.db", whole.substr(0, whole.size() - missing));
    const ProcessResult again = fatune({"show", "1", "--format", "json", "--db", path("cut.db")});
    if (again.exit_code == static_cast<int>(ExitCode::ok)) {
      EXPECT_EQ(again.out, shown) << missing;
    } else {
      expect_error(again, ExitCode::bad_file, {"cut.db"});
    }
    expect_ok(fatune(run_of({"--seq", "128", "--db", path("cut.db")})));
  }
}

TEST_F(Storing, ADamagedRunIsNamedAndMeasuredAnew) {
  const auto arguments = run_of({"--seq", "128", "--runs", "1"});
  expect_ok(fatune(arguments));
  std::string damaged = read(kDefaultFile);
  const std::size_t at = damaged.find("\"time_us\":100");
  ASSERT_NE(at, std::string::npos);
  damaged[at] = '\'';
  write(kDefaultFile, damaged);
  expect_error(fatune({"show", "1"}), ExitCode::bad_file, {"run 1 cannot be read"});
  auto reuse = arguments;
  reuse.insert(reuse.end(), {"--reuse", "--format", "json"});
  const ProcessResult again = fatune(reuse);
  expect_ok(again);
  EXPECT_EQ(counts(json::parse(again.out)), std::pair(1, 0));
}

TEST_F(Storing, ADamagedHeaderIsLeftOutOfTheList) {
  expect_ok(fatune(run_of({"--seq", "128"})));
  expect_ok(fatune(run_of({"--seq", "256"})));
  std::string damaged = read(kDefaultFile);
  const std::size_t at =
      damaged.find("\"command_line\":\"fatune run", damaged.find("--seq 256") - 400);
  ASSERT_NE(at, std::string::npos);
  damaged[at] = '\'';
  write(kDefaultFile, damaged);
  const ProcessResult result = fatune({"history", "--format", "json"});
  expect_ok(result);
  EXPECT_EQ(json::parse(result.out)["runs"].size(), 1U);
  EXPECT_THAT(result.err, HasSubstr("run 2 is damaged"));
}

/// Runs fatune so that root, too, may only do what the modes of files allow.
class ReadOnlyStore : public Storing {
 protected:
  ReadOnlyStore() {
    expect_ok(fatune(run_of({"--seq", "128", "--db", path("ro/s.db")})));
    set_mode("ro/s.db", 0444);
    set_mode("ro", 0555);
  }
  ~ReadOnlyStore() override { set_mode("ro", 0755); }

  void set_mode(const std::string& name, int mode) const {
    std::filesystem::permissions(path(name), static_cast<std::filesystem::perms>(mode));
  }
  ProcessResult restricted(std::vector<std::string> arguments) {
    if (::geteuid() == 0) {
      const std::string dropped = "--bounding-set=-dac_override,-dac_read_search";
      arguments.insert(arguments.begin(), {"/usr/bin/setpriv", dropped, "--", FATUNE_PROGRAM});
      return run_process(arguments, process_);
    }
    return fatune(arguments);
  }
};

TEST_F(ReadOnlyStore, EveryCommandThatReadsReadsIt) {
  const std::string store = path("ro/s.db");
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"history", "--db", store},
        {"show", "last", "--db", store},
        {"report", "last", "--db", store, "--out", path("report.html")},
        {"export", "--run", "last", "--db", store, "--format", "json"},
        {"merge", path("all.db"), store}}) {
    expect_ok(restricted(command));
  }
  EXPECT_TRUE(std::filesystem::exists(path("report.html")));
  EXPECT_EQ(restricted({"compare", "1", "1", "--db", store}).exit_code,
            static_cast<int>(ExitCode::undecided));
  EXPECT_EQ(fatune({"show", "last", "--db", path("all.db")}).out,
            restricted({"show", "last", "--db", store}).out);
}

TEST_F(ReadOnlyStore, CommandsThatWriteSayWhatIsWrong) {
  expect_error(restricted({"merge", path("ro/s.db"), path("ro/s.db")}), ExitCode::io,
               {"ro/s.db", "it may be read, but not written"});
  const ProcessResult run = restricted(run_of({"--seq", "128", "--db", path("ro/s.db")}));
  expect_ok(run);
  EXPECT_THAT(run.err, HasSubstr("results are not stored"));
  EXPECT_THAT(run.err, HasSubstr("it may be read, but not written"));
}

TEST_F(ReadOnlyStore, DoctorSaysThatNothingIsStored) {
  std::filesystem::create_directory(path("data"));
  set_mode("ro", 0755);
  std::filesystem::rename(path("ro"), path("data/fatune"));
  std::filesystem::rename(path("data/fatune/s.db"), path("data/fatune/fatune.db"));
  process_.environment["XDG_DATA_HOME"] = path("data");
  EXPECT_THAT(restricted({"doctor"}).out, HasSubstr("limited  database of measurements"));
  std::filesystem::rename(path("data/fatune"), path("ro"));
}

/// A view that never ends would otherwise keep every command that reads the store.
TEST_F(Storing, AViewInPlaceOfATableIsRefusedByEveryCommand) {
  expect_ok(fatune(run_of({"--seq", "128", "--db", path("s.db")})));
  Database(path("s.db"), Database::Mode::existing, std::chrono::milliseconds(100))
      .execute(
          "ALTER TABLE runs RENAME TO r; CREATE VIEW runs AS WITH RECURSIVE c(x) AS (SELECT 1 "
          "UNION ALL SELECT x + 1 FROM c) SELECT r.* FROM r, c WHERE c.x < 0");
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"history", "--db", path("s.db")},
        {"show", "last", "--db", path("s.db")},
        {"merge", path("all.db"), path("s.db")},
        {"cache", "import", path("s.db")}}) {
    expect_error(fatune(command), ExitCode::bad_file, {"s.db", "the view 'runs' could run code"});
  }
}

TEST_F(Storing, WrongArgumentsAreNamed) {
  expect_error(fatune({"show", "7"}), ExitCode::usage, {"no run 7 is stored", "history"});
  expect_error(fatune({"show", "last"}), ExitCode::usage, {"no run is stored"});
  expect_error(fatune({"show", "x"}), ExitCode::bad_file, {"no such file", "x", "history"});
  expect_error(fatune({"show", kToyFolder + "/family.json"}), ExitCode::bad_file, {"family.json"});
  expect_error(fatune({"history", "--db", path("none.db")}), ExitCode::bad_file,
               {"none.db", "no such database"});
  expect_error(fatune(run_of({"--fresh", "--reuse"})), ExitCode::usage, {"--fresh"});
}

}  // namespace
}  // namespace fatune::testing_cli
