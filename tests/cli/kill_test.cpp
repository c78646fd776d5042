// Tests kill -9 of fatune and of its worker at any moment: nothing that was stored is lost, nothing
// is measured twice, and no configuration is blamed. The worker is tests/fake_worker, which logs
// its actions.
#include <signal.h>

#include <chrono>
#include <random>
#include <set>
#include <sstream>
#include <thread>

#include "cli/program.hpp"
#include "store/database.hpp"

namespace fatune::testing_cli {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;
using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr int kKills = 20;

/// Samples by their times: noise makes each time unique.
using Samples = std::multiset<double>;

class Killing : public ProgramTest {
 protected:
  ProcessResult sweep() {
    std::vector<std::string> arguments{"sweep", "--kernel-dir",
                                       FATUNE_SOURCE_DIR "/tests/families/faulty"};
    arguments.insert(arguments.end(), problems_.begin(), problems_.end());
    arguments.insert(arguments.end(), {"--format", "json"});
    return fatune(arguments);
  }

  /// Kills sweeps at random moments, and lets the last one finish. Returns its report.
  json sweep_with_kills();

  /// Two of three configurations are contenders. There are also wrong results and crashes.
  Killing() {
    use_fake_worker({{"log", path("log")},
                     {"us", {{"turns_1", 100}, {"turns_2", 100.3}, {"turns_4", 200}}},
                     {"noise_percent", 1},
                     {"seed_by_process", true},
                     {"slow_ms", 2},
                     {"wrong", {{"wrong_row", "it is wrong"}}},
                     {"faults", json::array({{{"at", "sample"},
                                              {"label", "far_write"},
                                              {"after", 0},
                                              {"do", "crash CUDA_ERROR_ILLEGAL_ADDRESS"}}})}});
  }

  [[nodiscard]] std::vector<std::string> log() const {
    std::vector<std::string> lines;
    if (std::filesystem::exists(path("log"))) {
      std::istringstream text(read("log"));
      for (std::string line; std::getline(text, line);) {
        lines.push_back(line);
      }
    }
    return lines;
  }

  [[nodiscard]] Samples logged_samples() const {
    Samples samples;
    for (const std::string& line : log()) {
      if (line.starts_with("sampled ")) {
        samples.insert(std::stod(line.substr(8)));
      }
    }
    return samples;
  }

  /// The samples of all runs, each once.
  [[nodiscard]] std::set<double> stored_samples() const {
    Database database(path(".local/share/fatune/fatune.db"), Database::Mode::existing,
                      milliseconds(5000));
    Statement rows = database.prepare("SELECT us FROM journal WHERE kind = 'sample'");
    std::set<double> samples;
    while (rows.step()) {
      samples.insert(rows.real(0));
    }
    return samples;
  }

  /// Waits until the log has a random number of lines more than `before`, and then for a random
  /// number of milliseconds.
  void wait_for_a_moment(std::size_t before) {
    const auto events = std::uniform_int_distribution<std::size_t>(0, 30)(random_);
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (log().size() < before + events && std::chrono::steady_clock::now() < deadline) {
      std::this_thread::sleep_for(milliseconds(1));
    }
    const int most_ms = events == 0 ? 80 : 4;
    std::this_thread::sleep_for(
        milliseconds(std::uniform_int_distribution<int>(0, most_ms)(random_)));
  }

  /// The worker's process id, once a worker other than `previous` has started.
  [[nodiscard]] pid_t next_worker(pid_t previous) const {
    for (int i = 0; i < 10'000; ++i) {
      pid_t last = previous;
      for (const std::string& line : log()) {
        last = line.starts_with("started ") ? std::stoi(line.substr(8)) : last;
      }
      if (last != previous) {
        return last;
      }
      std::this_thread::sleep_for(milliseconds(1));
    }
    return -1;
  }

  static void expect_all_there(const json& report) {
    EXPECT_EQ(report["complete"], true);
    ASSERT_EQ(report["problems"].size(), 2U);
    for (const json& problem : report["problems"]) {
      EXPECT_EQ(problem["ranking"].size(), 14U);
      EXPECT_EQ(failures(problem),
                (std::set<std::string>{"(FP16, 64, compile_error): turns_1 compile_failed",
                                       "(FP16, 64, far_write): turns_1 crashed",
                                       "(FP16, 64, too_much_smem): turns_2 unlaunchable",
                                       "(FP16, 64, wrong_row): turns_1 wrong_result"}));
    }
  }

  static std::set<std::string> failures(const json& problem) {
    std::set<std::string> failures;
    for (const json& entry : problem["failures"]) {
      failures.insert(std::string(entry["config"]) + " " + std::string(entry["outcome"]));
    }
    return failures;
  }

  static std::size_t samples_taken(const json& report) {
    std::size_t taken = 0;
    for (const json& problem : report["problems"]) {
      taken += problem["measuring"]["samples_taken"].get<std::size_t>();
    }
    return taken;
  }

  std::vector<std::string> problems_{"--seq", "128,256", "--batch", "1", "--heads", "1"};
  std::mt19937 random_{20261120};
};

json Killing::sweep_with_kills() {
  for (int kill = 0; kill < kKills; ++kill) {
    process_.then = [this, before = log().size()](pid_t pid) {
      wait_for_a_moment(before);
      ::kill(pid, SIGKILL);
    };
    EXPECT_EQ(sweep().exit_code, 128 + SIGKILL) << "the sweep must outlive its kills";
  }
  process_.then = nullptr;
  const ProcessResult last = sweep();
  expect_ok(last);
  EXPECT_THAT(last.err, HasSubstr("continuing an interrupted run"));
  expect_schema(last.out, "results");
  json report = json::parse(last.out);
  expect_all_there(report);

  const Samples taken = logged_samples();
  const std::set<double> stored = stored_samples();
  EXPECT_GT(stored.size(), 100U);
  for (const double us : stored) {
    EXPECT_EQ(taken.count(us), 1U) << us;
  }
  EXPECT_LE(taken.size(), stored.size() + 2 * kKills)
      << "for each kill one in flight, and one that was begun after it";
  EXPECT_EQ(samples_taken(report), stored.size()) << "all that was stored counts, and no more";
  return report;
}

TEST_F(Killing, OfTheProgramLosesAtMostTheSamplesInFlight) { sweep_with_kills(); }

TEST_F(Killing, OfTheProgramInARaceOnAPartOfTheProblemLosesNoMore) {
  process_.environment["FATUNE_FAKE_MEMORY_MIB"] = "140000";
  problems_ = {"--seq", "8192,16384"};
  const json report = sweep_with_kills();
  for (const json& problem : report["problems"]) {
    EXPECT_GT(problem["measuring"]["part_rounds"], 0);
    EXPECT_GT(problem["measuring"]["final_rounds"], 0) << "these are on the whole problem";
  }
}

TEST_F(Killing, OfTheWorkerBlamesNobody) {
  int kills = 0;
  process_.then = [&](pid_t) {
    pid_t worker = -1;
    while (kills < kKills && (worker = next_worker(worker)) > 0) {
      wait_for_a_moment(log().size());
      kills += ::kill(worker, SIGKILL) == 0 ? 1 : 0;
    }
  };
  const ProcessResult result = sweep();
  expect_ok(result);
  EXPECT_EQ(kills, kKills) << "the sweep must outlive its kills";
  const json report = json::parse(result.out);
  expect_all_there(report);
  EXPECT_LE(logged_samples().size(), samples_taken(report) + kKills + 4)
      << "one in flight for each kill, and each crash twice";
  for (const json& problem : report["problems"]) {
    EXPECT_THAT(problem["measuring"]["warnings"], IsEmpty());
  }
}

}  // namespace
}  // namespace fatune::testing_cli
