// Tests Ctrl-C in the middle of a race, and a GPU on which another fatune measures.
#include "cli/program.hpp"

#include <signal.h>

#include <chrono>
#include <functional>
#include <map>
#include <thread>

namespace fatune::testing_cli {
namespace {

using nlohmann::json;
using testing::HasSubstr;

constexpr const char* kOtherConfig =
    "(FP16, 128, 64, 32, 4): async+eager+swizzled+load_2_2_2_tiles+buffer+opt_softmax";
constexpr std::size_t kRepeats = 60;

class SlowGpu : public ProgramTest {
 protected:
  SlowGpu() {
    use_fake_gpu();
    process_.environment["FATUNE_WORKER"] = FATUNE_FAKE_WORKER;
    noise_seed(1);
  }
  /// Gives each process of a worker the noise of this seed, beginning with its first sample.
  void noise_seed(int seed) {
    const json script{{"noise_percent", 1.0},
                      {"seed", seed},
                      {"slow_ms", 10},
                      {"us", {{"buffer", 110.0}, {"load", 100.0}}}};
    process_.environment["FATUNE_FAKE_WORKER"] = script.dump();
  }
  [[nodiscard]] std::vector<std::string> run_of(const std::vector<std::string>& more) const {
    std::vector<std::string> arguments{"run",   "--config", kConfig,   "--config", kOtherConfig,
                                       "--seq", "128,256",  "--batch", "1",        "--heads",
                                       "1",     "--warmup", "0",       "--out",    path("out")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
  /// A run of two problems of more than a second each.
  [[nodiscard]] std::vector<std::string> long_run() const {
    return run_of({"--repeats", std::to_string(kRepeats)});
  }
  /// Ends the run by a signal in the middle of its second problem.
  ProcessResult cut_off(const std::vector<std::string>& arguments, int signal) {
    return beginning(arguments, [signal](pid_t pid) {
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      ::kill(pid, signal);
    });
  }
  /// As cut_off() with SIGKILL, once the store has the first problem: on busy cores that is later.
  ProcessResult kill_once_stored(const std::vector<std::string>& arguments) {
    return beginning(arguments, [this](pid_t pid) {
      constexpr int kMostPauses = 600;
      for (int i = 0; i < kMostPauses && !has_stored_a_problem(); ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
      }
      ::kill(pid, SIGKILL);
    });
  }
  [[nodiscard]] bool has_stored_a_problem() const {
    const ProcessResult shown = program({"show", "last", "--format", "json"});
    return shown.exit_code == 0 && !json::parse(shown.out)["problems"].empty() &&
           !json::parse(shown.out)["problems"][0]["ranking"].empty();
  }
  /// Calls `then` at the beginning of the run's second problem.
  ProcessResult beginning(const std::vector<std::string>& arguments,
                          std::function<void(pid_t)> then) {
    return program(arguments, "[2/4]", std::move(then));
  }
  [[nodiscard]] ProcessResult program(const std::vector<std::string>& arguments,
                                      const std::string& when_err_has = {},
                                      std::function<void(pid_t)> then = nullptr) const {
    ProcessOptions options = process_;
    options.when_err_has = when_err_has;
    options.then = std::move(then);
    std::vector<std::string> command{FATUNE_PROGRAM};
    command.insert(command.end(), arguments.begin(), arguments.end());
    return run_process(command, options);
  }
  /// Waits until the worker has taken a sample, according to its log, and is at the next one.
  void wait_for_a_sample() const {
    constexpr std::chrono::milliseconds kPause{100};
    constexpr int kMostPauses = 600;
    for (int i = 0; i < kMostPauses; ++i) {
      std::this_thread::sleep_for(kPause);
      if (std::filesystem::exists(path("log")) &&
          read("log").find("sampled ") != std::string::npos) {
        std::this_thread::sleep_for(kPause);
        return;
      }
    }
    ADD_FAILURE() << "no sample was taken";
  }
  [[nodiscard]] json results() const { return json::parse(read("out/results.json")); }
  /// The samples of each configuration.
  static std::map<std::string, std::vector<double>> samples(const json& problem) {
    std::map<std::string, std::vector<double>> samples;
    for (const json& entry : problem["ranking"]) {
      samples[entry["config"]] = entry["samples_us"].get<std::vector<double>>();
    }
    return samples;
  }
};

TEST_F(SlowGpu, AnInterruptLeavesAPartialRankingAndTheSameCommandGoesOn) {
  const ProcessResult stopped = cut_off(long_run(), SIGINT);
  EXPECT_EQ(stopped.exit_code, static_cast<int>(ExitCode::interrupted)) << stopped.err;
  EXPECT_THAT(stopped.out, HasSubstr("INCOMPLETE"));
  EXPECT_THAT(stopped.err, HasSubstr("the same command resumes from there"));
  expect_schema(read("out/results.json"), "results");
  const json before = results();
  EXPECT_FALSE(before["complete"]);
  ASSERT_EQ(before["problems"].size(), 2U);
  EXPECT_EQ(before["problems"][1]["measuring"]["stopped_because"], "interrupted");
  const auto first_half = samples(before["problems"][1]);
  ASSERT_EQ(first_half.size(), 2U);

  noise_seed(2);  // the samples measured now differ
  const ProcessResult resumed = fatune(long_run());
  expect_ok(resumed);
  EXPECT_THAT(resumed.err, HasSubstr("continuing an interrupted run"));
  const json after = results();
  EXPECT_TRUE(after["complete"]);
  EXPECT_EQ(samples(after["problems"][0]), samples(before["problems"][0]));
  EXPECT_TRUE(after["problems"][0]["ranking"][0]["reused"]);
  EXPECT_EQ(after["problems"][1]["measuring"]["stopped_because"], "fixed count");
  for (const auto& [config, whole] : samples(after["problems"][1])) {
    const std::vector<double>& half = first_half.at(config);
    ASSERT_EQ(whole.size(), kRepeats);
    ASSERT_LT(half.size(), kRepeats);
    EXPECT_GT(half.size(), 1U);
    EXPECT_EQ(std::vector(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(half.size())),
              half);
  }
}

TEST_F(SlowGpu, WhoAsksItToEndByAnotherSignalGetsTheSame) {
  for (const int signal : {SIGTERM, SIGHUP}) {
    const ProcessResult stopped = cut_off(run_of({"--repeats", "60", "--fresh"}), signal);
    EXPECT_EQ(stopped.exit_code, static_cast<int>(ExitCode::interrupted)) << stopped.err;
    EXPECT_THAT(stopped.out, HasSubstr("INCOMPLETE"));
    EXPECT_FALSE(results()["complete"]);
    EXPECT_EQ(results()["problems"].size(), 2U);
  }
}

TEST_F(SlowGpu, TimeoutsTwoSignalsAreOneRequest) {
  std::vector<std::string> command{"/usr/bin/timeout", "--preserve-status", "1", FATUNE_PROGRAM};
  for (const std::string& word : long_run()) {
    command.push_back(word);
  }
  const ProcessResult stopped = run_process(command, process_);
  EXPECT_EQ(stopped.exit_code, static_cast<int>(ExitCode::interrupted)) << stopped.err;
  EXPECT_FALSE(results()["complete"]);
}

TEST_F(SlowGpu, ASecondRequestEndsItAtOnce) {
  use_fake_worker({{"log", path("log")}, {"slow_ms", 3000}});
  const ProcessResult killed = program(run_of({"-v", "--no-cache"}), "compiled ", [&](pid_t pid) {
    wait_for_a_sample();
    ::kill(pid, SIGINT);  // during the next sample, whose end it waits for
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    ::kill(pid, SIGTERM);
  });
  EXPECT_EQ(killed.exit_code, 128 + SIGTERM);
}

TEST_F(SlowGpu, NohupKeepsARunGoing) {
  ::signal(SIGHUP, SIG_IGN);  // as nohup does
  const ProcessResult result =
      beginning(run_of({"--repeats", "5"}), [](pid_t pid) { ::kill(pid, SIGHUP); });
  ::signal(SIGHUP, SIG_DFL);
  expect_ok(result);
}

TEST_F(SlowGpu, ARaceThatIsInterruptedInItsFinalsHasReachedNoTarget) {
  const ProcessResult stopped =
      cut_off(run_of({"--strategy", "race", "--target-ci", "0.1"}), SIGINT);
  EXPECT_EQ(stopped.exit_code, static_cast<int>(ExitCode::interrupted)) << stopped.err;
  const json problem = results()["problems"][1];
  EXPECT_EQ(problem["measuring"]["stopped_because"], "interrupted");
  EXPECT_EQ(problem["ranking"][0]["stopped_because"], "interrupted");
}

TEST_F(SlowGpu, AnInterruptedCheckCountsWhatItHasDone) {
  process_.environment.erase("FATUNE_WORKER");
  process_.environment["FATUNE_WATCHDOG_S"] = "600";  // busy cores slow the emulator down
  const ProcessResult stopped = program({"check", "--seq", "64", "--batch", "1", "--heads", "1",
                                         "--config", kConfig, "--seeds", "200"},
                                        "[1/1]", [](pid_t pid) { ::kill(pid, SIGTERM); });
  EXPECT_EQ(stopped.exit_code, static_cast<int>(ExitCode::interrupted)) << stopped.err;
  EXPECT_THAT(stopped.out, HasSubstr("INCOMPLETE: interrupted after "));
  EXPECT_THAT(stopped.out, HasSubstr(" of 200 right"));
  EXPECT_THAT(stopped.out, testing::Not(HasSubstr("all ")));
}

TEST_F(SlowGpu, AnInterruptedVerificationOfWinnersIsIncomplete) {
  expect_ok(fatune({"sweep", "--seq", "128,256", "--dhead", "128", "--dtype", "fp16", "--batch",
                    "1", "--heads", "1", "--space", "64,32", "--no-db", "-q", "--budget", "0.2",
                    "--best", path("best.json")}));
  const ProcessResult stopped = program({"verify-winner", path("best.json"), "--no-db", "--format",
                                         "json", "--target-ci", "0.01", "--budget", "4"},
                                        "[8/16]", [](pid_t pid) { ::kill(pid, SIGINT); });
  EXPECT_EQ(stopped.exit_code, static_cast<int>(ExitCode::interrupted)) << stopped.err;
  expect_schema(stopped.out, "results");
  EXPECT_FALSE(json::parse(stopped.out)["complete"]);
}

TEST_F(SlowGpu, AKilledRaceGoesOnWhereItWas) {
  const auto race = run_of({"--strategy", "race", "--target-ci", "0.1"});
  EXPECT_EQ(kill_once_stored(race).exit_code, 128 + SIGKILL);
  noise_seed(2);
  const ProcessResult resumed = fatune(race);
  expect_ok(resumed);
  EXPECT_THAT(resumed.err, HasSubstr("continuing an interrupted run"));
  const json after = results();
  EXPECT_TRUE(after["complete"]);
  EXPECT_TRUE(after["problems"][0]["ranking"][0]["reused"]);
  EXPECT_EQ(after["problems"][1]["ranking"].size(), 2U);
  EXPECT_NE(after["problems"][1]["measuring"]["stopped_because"], "interrupted");
}

TEST_F(SlowGpu, WhoMayNotWaitIsRefusedWhileAnotherMeasures) {
  ProcessResult second;
  const ProcessResult first = beginning(long_run(), [&](pid_t pid) {
    second = program(run_of({"--repeats", "2", "--no-wait"}));
    ::kill(pid, SIGINT);
  });
  EXPECT_EQ(first.exit_code, static_cast<int>(ExitCode::interrupted));
  expect_error(second, ExitCode::gpu_busy,
               {"another fatune measures on this GPU", "leave out --no-wait"});
  EXPECT_EQ(second.out, "");
}

TEST_F(SlowGpu, WhoMayWaitSaysSoAndMeasuresThen) {
  ProcessResult second;
  const ProcessResult first = beginning(long_run(), [&](pid_t first_pid) {
    second = program(run_of({"--repeats", "2", "--no-db"}), "waiting for it",
                     [first_pid](pid_t) { ::kill(first_pid, SIGINT); });
  });
  EXPECT_EQ(first.exit_code, static_cast<int>(ExitCode::interrupted));
  expect_ok(second);
  EXPECT_THAT(second.err, HasSubstr("another fatune measures on Fake H200 (GPU 0)"));
}

// Without a GPU, emulation takes the time.
class SlowEmulation : public ProgramTest {
 protected:
  /// Interrupts the command as soon as its standard error contains `text`.
  [[nodiscard]] ProcessResult interrupted_at(const std::string& text,
                                             std::vector<std::string> command,
                                             std::chrono::milliseconds later = {}) const {
    command.insert(command.begin(), FATUNE_PROGRAM);
    ProcessOptions options = process_;
    options.when_err_has = text;
    options.then = [later](pid_t pid) {
      std::this_thread::sleep_for(later);
      ::kill(pid, SIGINT);
    };
    return run_process(command, options);
  }
  /// Interrupts during a compilation. The first one begins some milliseconds after the text.
  /// NVRTC's handlers, which end a process with exit code 4, are installed for most of it.
  [[nodiscard]] ProcessResult interrupted_in_a_compile(
      const std::vector<std::string>& command) const {
    return interrupted_at("NOT RUN ON A GPU", command, std::chrono::milliseconds(20));
  }
};

TEST_F(SlowEmulation, AnInterruptedSweepKeepsWhatWasVerified) {
  const ProcessResult stopped =
      interrupted_at("[2/4]", {"sweep", "--seq", "512,1000", "--dhead", "128", "--dtype", "fp16",
                               "--space", kFewSpace, "--jobs", "1", "--out", path("out")});
  EXPECT_EQ(stopped.exit_code, static_cast<int>(ExitCode::interrupted)) << stopped.err;
  EXPECT_THAT(stopped.out, HasSubstr("INCOMPLETE"));
  expect_schema(read("out/results.json"), "results");
  const json report = json::parse(read("out/results.json"));
  EXPECT_FALSE(report["complete"]);
  ASSERT_EQ(report["problems"].size(), 2U);
  EXPECT_EQ(report["problems"][0]["ranking"].size(), 2U);
  EXPECT_LT(report["problems"][1]["ranking"].size(), 2U);
  for (const json& problem : report["problems"]) {
    for (const json& entry : problem["ranking"]) {
      EXPECT_EQ(entry["verified"], "emulated");
    }
  }
}

TEST_F(SlowEmulation, AnInterruptedEmulationPrintsWhatIsDone) {
  const ProcessResult stopped = interrupted_at(
      "compiled ",
      {"emulate", "-v", "--space", "tune", "--jobs", "1", "--no-cache", "--format", "json"});
  EXPECT_EQ(stopped.exit_code, static_cast<int>(ExitCode::interrupted)) << stopped.err;
  expect_schema(stopped.out, "emulate");
  const json report = json::parse(stopped.out);
  EXPECT_FALSE(report["complete"]);
  EXPECT_LT(report["configs"].size(), 80U);
}

TEST_F(SlowEmulation, AnInterruptedCheckPrintsWhatWasVerified) {
  const ProcessResult stopped = interrupted_in_a_compile(
      {"check", "--space", "tune", "--jobs", "1", "--no-cache", "--format", "json"});
  EXPECT_EQ(stopped.exit_code, static_cast<int>(ExitCode::interrupted)) << stopped.err;
  expect_schema(stopped.out, "check");
  EXPECT_LT(json::parse(stopped.out)["checks"].size(), 80U);
  EXPECT_FALSE(json::parse(stopped.out)["complete"]);
}

/// A command that compiles a list, one by one, and the schema of its JSON.
struct ListCommand {
  std::vector<std::string> words;
  const char* schema;
};

class InterruptedList : public SlowEmulation, public testing::WithParamInterface<ListCommand> {
 protected:
  InterruptedList() {
    use_fake_gpu();
    process_.environment["FATUNE_NVDISASM"] = "/bin/true";
    process_.environment["FATUNE_WORKER"] = FATUNE_FAKE_WORKER;
  }
  /// Interrupts the command while the second of its configurations is compiled.
  [[nodiscard]] ProcessResult interrupted(const char* format) const {
    std::vector<std::string> command = GetParam().words;
    command.insert(command.end(), {"--space", "tune", "--dtype", "fp16", "-v", "--jobs", "1",
                                   "--no-cache", "--format", format});
    return interrupted_at("compiled ", command);
  }
};

TEST_P(InterruptedList, SaysSoInJson) {
  const ProcessResult stopped = interrupted("json");
  EXPECT_EQ(stopped.exit_code, static_cast<int>(ExitCode::interrupted)) << stopped.err;
  expect_schema(stopped.out, GetParam().schema);
  EXPECT_EQ(json::parse(stopped.out)["complete"], false);
}

TEST_P(InterruptedList, SaysSoInATable) {
  const ProcessResult stopped = interrupted("table");
  EXPECT_EQ(stopped.exit_code, static_cast<int>(ExitCode::interrupted)) << stopped.err;
  EXPECT_THAT(stopped.out, HasSubstr("INCOMPLETE: interrupted after "));
  EXPECT_THAT(stopped.out, testing::Not(testing::ContainsRegex("all [0-9]+ right")));
}

INSTANTIATE_TEST_SUITE_P(
    All, InterruptedList,
    testing::Values(ListCommand{{"compile"}, "compile"}, ListCommand{{"emulate"}, "emulate"},
                    ListCommand{{"check", "--device", "none"}, "check"},
                    ListCommand{{"sass", "why"}, "sass_why"},
                    ListCommand{{"profile", "--backend", "cupti", "--seq", "512"}, "profile"}),
    [](const auto& one) { return std::string(one.param.schema); });

}  // namespace
}  // namespace fatune::testing_cli
