// Tests races through the program, with a worker whose times are scripted.
#include "cli/program.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <sstream>
#include <thread>

namespace fatune::testing_cli {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

class Racing : public ProgramTest {
 protected:
  Racing() {
    use_fake_gpu();
    process_.environment["FATUNE_WORKER"] = FATUNE_FAKE_WORKER;
    script(json::object());
  }

  // The worker takes the first of these keys, in this order, that is part of a label.
  /// Eight configurations. The registers of the V fragments decide the time, and then the buffer.
  void script(const json& more) {
    json script{
        {"noise_percent", 0.2},
        {"us",
         {{"2_0_tiles+buffer", 103.0}, {"load_2_2_0_tiles", 100.0}, {"load_2_2_2_tiles", 130.0}}}};
    script.update(more);
    process_.environment["FATUNE_FAKE_WORKER"] = script.dump();
  }

  static std::vector<std::string> sweep_of(const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"sweep",   "--seq",   "256",     "--dhead", "128",
                                       "--dtype", "fp16",    "--batch", "1",       "--heads",
                                       "1",       "--space", "64,32",   "--no-db"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
  json only_problem(const std::vector<std::string>& more) {
    auto arguments = sweep_of(more);
    arguments.insert(arguments.end(), {"--format", "json"});
    const ProcessResult result = fatune(arguments);
    expect_ok(result);
    expect_schema(result.out, "results");
    return json::parse(result.out)["problems"][0];
  }
};

TEST_F(Racing, SaysHowTheRaceWent) {
  const ProcessResult result = fatune(sweep_of({}));
  expect_ok(result);
  EXPECT_THAT(result.out,
              AllOf(HasSubstr("measured: true; race to +-0.5 %"), HasSubstr(" rounds, "),
                    HasSubstr("target reached"), HasSubstr("the GPU was measuring or verifying")));
}

TEST_F(Racing, FindsTheFastestWithFewSamplesOfTheOthers) {
  const json problem = only_problem({});
  ASSERT_EQ(problem["ranking"].size(), 8U);
  const json& best = problem["ranking"][0];
  EXPECT_THAT(std::string(best["config"]),
              AllOf(HasSubstr("load_2_2_0_tiles"), Not(HasSubstr("buffer"))));
  EXPECT_NEAR(best["time_us"], 100.0, 0.5);
  EXPECT_LE(best["median_high_us"].get<double>() - best["median_low_us"].get<double>(), 1.0);
  EXPECT_LT(problem["ranking"][7]["samples"], best["samples"]);
  EXPECT_EQ(problem["measuring"]["stopped_because"], "target reached");
  EXPECT_GT(problem["measuring"]["final_rounds"], 0);
  EXPECT_GT(problem["measuring"]["elapsed_s"], 0.0);
}

TEST_F(Racing, ExhaustiveTakesTheSameNumberOfEach) {
  const json problem = only_problem({"--strategy", "exhaustive", "--repeats", "3"});
  ASSERT_EQ(problem["ranking"].size(), 8U);
  for (const json& entry : problem["ranking"]) {
    EXPECT_EQ(entry["samples_us"].size(), 3U);
  }
  EXPECT_EQ(problem["measuring"]["stopped_because"], "fixed count");
  EXPECT_GE(problem["measuring"]["samples_taken"], 24);  // more if the sentinel waits for others
}

TEST_F(Racing, ANumberOfSamplesChoosesTheStrategyAndARaceHasNone) {
  const json problem = only_problem({"--repeats", "2"});
  for (const json& entry : problem["ranking"]) {
    EXPECT_EQ(entry["samples"], 2);
  }
  expect_error(fatune(sweep_of({"--strategy", "race", "--repeats", "2"})), ExitCode::usage,
               {"--repeats", "as many samples as it needs", "--strategy exhaustive"});
}

TEST_F(Racing, RunHasAFixedCountUnlessARaceIsAskedFor) {
  const std::vector<std::string> arguments{"run", "--config", kConfig,    "--seq",
                                           "256", "--batch",  "1",        "--heads",
                                           "1",   "--no-db",  "--format", "json"};
  const json fixed = fatune_json(arguments);
  EXPECT_EQ(fixed["policy"]["strategy"], "exhaustive");
  EXPECT_EQ(fixed["policy"]["warmup"], 10);
  EXPECT_EQ(fixed["problems"][0]["ranking"][0]["samples"], 64);
  auto race = arguments;
  race.insert(race.end(), {"--strategy", "race"});
  const json raced = fatune_json(race);
  EXPECT_EQ(raced["policy"]["strategy"], "race");
  EXPECT_EQ(raced["policy"]["warmup"], 0);
  EXPECT_EQ(raced["problems"][0]["measuring"]["stopped_because"], "target reached");
}

TEST_F(Racing, CountersJoinTheFirstOfTheRanking) {
  script(
      {{"counts",
        {{"load", {{"gpu__time_duration.sum", 101000.0}, {"sm__cycles_elapsed.max", 190000.0}}}}}});
  const json ranking = only_problem({"--counters", "2"})["ranking"];
  EXPECT_EQ(ranking[0]["counters"], (json{{"duration_us", 101.0}, {"elapsed_cycles", 190000.0}}));
  EXPECT_TRUE(ranking[1].contains("counters"));
  EXPECT_TRUE(ranking[2]["counters"].empty());
  EXPECT_TRUE(only_problem({"--counters"})["ranking"][7].contains("counters")) << "the first 8";
  EXPECT_THAT(fatune(sweep_of({"--counters", "1"})).out,
              AllOf(HasSubstr("hardware counters:"), HasSubstr("101.00")));
  expect_error(fatune(sweep_of({"--counters", "0"})), ExitCode::usage, {"--counters"});
}

TEST_F(Racing, CountersThatCannotBeReadAreOneWarning) {
  script({{"faults", {{{"at", "count"}, {"do", "refuse no permission"}}}}});
  const ProcessResult result = fatune(sweep_of({"--counters", "3"}));
  expect_ok(result);
  EXPECT_THAT(result.out, AllOf(HasSubstr("8 ranked, 0 failed"),
                                HasSubstr("warning: no hardware counters: no permission"),
                                Not(HasSubstr("hardware counters:\n"))));
  EXPECT_EQ(result.err.find("no permission"), result.err.rfind("no permission")) << result.err;
}

TEST_F(Racing, ABudgetEndsIt) {
  script({{"noise_percent", 1.0}, {"slow_ms", 5}});
  const auto start = std::chrono::steady_clock::now();
  const json problem = only_problem({"--budget", "0.5", "--repeats", "2000"});
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  EXPECT_EQ(problem["measuring"]["stopped_because"], "budget used up");
  EXPECT_EQ(problem["ranking"].size(), 8U);
  EXPECT_LT(took.count(), 40.0);  // all repeats would take 80 s
}

TEST_F(Racing, ABudgetThatIsGoneLeavesEachProblemWithTimes) {
  auto arguments = sweep_of({"--budget", "0.001", "--format", "json"});
  std::replace(arguments.begin(), arguments.end(), std::string("256"), std::string("128,256,512"));
  const json report = fatune_json(arguments);
  ASSERT_EQ(report["problems"].size(), 3U);
  for (const json& problem : report["problems"]) {
    EXPECT_EQ(problem["measuring"]["stopped_because"], "budget used up");
    EXPECT_EQ(problem["ranking"].size(), 8U);
  }
}

TEST_F(Racing, NumbersOfThePolicyHaveTheirRange) {
  for (const char* option : {"--budget", "--target-ci", "--confidence"}) {
    for (const char* bad : {"0", "-1", "", "x", "nan", "1e10"}) {
      expect_error(fatune(sweep_of({option, bad})), ExitCode::usage, {option, "give a number"});
    }
  }
  expect_error(fatune(sweep_of({"--target-ci", "100"})), ExitCode::usage, {"--target-ci"});
  expect_error(fatune(sweep_of({"--strategy", "fast"})), ExitCode::usage, {"race and exhaustive"});
  expect_error(fatune(sweep_of({"--l2", "hot"})), ExitCode::usage, {"cold", "warm"});
  expect_error(fatune(sweep_of({"--l2", "cold", "--no-flush"})), ExitCode::usage, {"--no-flush"});
  expect_error(fatune(sweep_of({"--audit", "0"})), ExitCode::usage, {"--audit"});
}

TEST_F(Racing, AnAuditTriesWhatTheRulesDropped) {
  const json problem = only_problem({"--audit", "4"});
  ASSERT_EQ(problem["audited"].size(), 4U);
  EXPECT_EQ(problem["ranking"].size(), 8U);
  for (const json& entry : problem["audited"]) {
    EXPECT_EQ(entry["outcome"], "measured");
    EXPECT_FALSE(entry["pruned_by"].is_null());
    EXPECT_TRUE(entry["rank"].is_null());
  }
  std::int64_t audited = 0;
  std::int64_t pruned = 0;
  for (const json& rule : problem["audit"]) {
    audited += rule["audited"].get<std::int64_t>();
    pruned += rule["pruned"].get<std::int64_t>();
  }
  EXPECT_EQ(audited, 4);
  EXPECT_EQ(pruned, problem["pruned"]);
}

TEST_F(Racing, ARuleThatCostSomethingIsNamed) {
  script({{"us", {{"load_0_", 80.0}}}});
  const ProcessResult result = fatune(sweep_of({"--audit", "all"}));
  expect_ok(result);
  EXPECT_THAT(result.out, HasSubstr("16 pruned ones tried for the audit:"));
  EXPECT_THAT(result.out, HasSubstr("rule br64-bc32-q-in-registers: 16 of 16 tried; saved"));
  EXPECT_THAT(result.out, AllOf(HasSubstr("COST 2"), HasSubstr("is faster than the winner")));
  EXPECT_THAT(result.out, HasSubstr("rule qk-tiles-equal: none of its 8 was tried"));
}

// --- A part of the problem ---

/// Forty configurations of a problem with long launches.
class RacingOnAPart : public Racing {
 protected:
  RacingOnAPart() {
    process_.environment["FATUNE_FAKE_MEMORY_MIB"] = "140000";
    script(json::object());
  }

  /// Three configurations are close, and the others are behind.
  void script(const json& more) {
    json script{{"noise_percent", 0.2},
                {"log", path("log")},
                {"us",
                 {{"(FP16, 128, 128, 64, 4): async+eager+swizzled+load_2_2_2_tiles", 23000.0},
                  {"(FP16, 128, 128, 64, 4): async+eager+swizzled+load_2_2_0_tiles+opt", 23200.0},
                  {"128, 64, 4)", 25500.0},
                  {"64, 32, 4)", 36000.0},
                  {"FP16", 27000.0}}}};
    script.update(more);
    process_.environment["FATUNE_FAKE_WORKER"] = script.dump();
  }

  json long_problem(const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"sweep", "--family", "flash_sm80", "--seq",
                                       "16384", "--dhead",  "128",        "--dtype",
                                       "fp16",  "--no-db",  "--format",   "json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const ProcessResult result = fatune(arguments);
    expect_ok(result);
    expect_schema(result.out, "results");
    return json::parse(result.out)["problems"][0];
  }

  /// For each sample in the log, whether it was on the part.
  [[nodiscard]] std::vector<bool> samples_on_part() const {
    std::vector<bool> on_part;
    std::istringstream text(read("log"));
    for (std::string line; std::getline(text, line);) {
      if (line.starts_with("sampled ")) {
        on_part.push_back(line.ends_with(" on the part"));
      }
    }
    return on_part;
  }
};

TEST_F(RacingOnAPart, TheWholeProblemIsForThoseThatCanWin) {
  // A configuration that is compiled last may go on to the whole problem for lack of evidence.
  expect_ok(fatune({"compile", "--family", "flash_sm80", "--dhead", "128", "--dtype", "fp16",
                    "--arch", "sm_90a"}));
  const json problem = long_problem({});
  ASSERT_EQ(problem["ranking"].size(), 40U);
  EXPECT_EQ(problem["measuring"]["part_share"], 0.25);
  EXPECT_GT(problem["measuring"]["part_rounds"], 0);
  EXPECT_THAT(std::string(problem["ranking"][0]["config"]), HasSubstr("load_2_2_2_tiles"));
  for (const json& entry : problem["ranking"]) {
    const bool is_close = entry["time_us"] < 24000.0;
    EXPECT_EQ(entry["from_cache"], true) << "it is compiled before the race";
    EXPECT_EQ(entry["part_share"].is_null(), is_close) << entry["config"];
    EXPECT_GT(entry["time_us"], 22500.0) << "scaled to the whole problem";
    EXPECT_LT(entry["time_us"], 37000.0);
  }
  const std::vector<bool> on_part = samples_on_part();
  EXPECT_TRUE(std::ranges::is_partitioned(on_part, [](bool of_part) { return of_part; }))
      << "first the part, then the whole problem";
  EXPECT_TRUE(on_part.front());
  EXPECT_FALSE(on_part.back());
}

TEST_F(RacingOnAPart, ItIsTurnedOff) {
  const json problem = long_problem({"--parts", "off"});
  EXPECT_THAT(samples_on_part(), Not(Contains(true)));
  EXPECT_TRUE(problem["measuring"]["part_share"].is_null());
  for (const json& entry : problem["ranking"]) {
    EXPECT_TRUE(entry["part_share"].is_null());
  }
  expect_error(fatune(sweep_of({"--parts", "some"})), ExitCode::usage, {"--parts", "auto", "off"});
}

TEST_F(RacingOnAPart, OneThatIsSlowerThereThanItShouldBeStillWins) {
  script({{"part", {{"128, 64, 4): async+eager+swizzled+load_2_2_0_tiles+opt", 0.98}}}});
  const json problem = long_problem({});
  EXPECT_THAT(std::string(problem["ranking"][0]["config"]), HasSubstr("load_2_2_2_tiles"));
}

TEST_F(RacingOnAPart, TheTableSaysIt) {
  const ProcessResult result = fatune({"sweep", "--family", "flash_sm80", "--seq", "16384",
                                       "--dhead", "128", "--dtype", "fp16", "--no-db"});
  expect_ok(result);
  EXPECT_THAT(result.out, AllOf(HasSubstr(" on 25 % of the problem"), HasSubstr("  part  "),
                                HasSubstr("  0.25  ")));
}

// --- Sustained finals ---

class SustainedFinals : public RacingOnAPart {
 protected:
  SustainedFinals() { script({{"sm_count", 132}}); }

  /// At the power cap. The configuration that is 0.9 % slower in rounds is 3 % faster alone.
  void script_power_cap() {
    script({{"sm_count", 132}, {"reading", true}, {"alone", {{"load_2_2_0_tiles+opt", 0.97}}}});
  }
};

TEST_F(SustainedFinals, TheOneThatIsFasterAloneWins) {
  script_power_cap();
  const json problem = long_problem({"--sustain", "0.2", "--best", path("best.json")});
  const json& ranking = problem["ranking"];
  EXPECT_THAT(std::string(ranking[0]["config"]), HasSubstr("load_2_2_0_tiles+opt"));
  EXPECT_NEAR(ranking[0]["time_us"], 23200.0, 200.0);
  EXPECT_NEAR(ranking[0]["sustained_us"], 0.97 * 23200.0, 200.0);
  EXPECT_EQ(ranking[0]["sustained_sm_mhz"], 1980.0);
  EXPECT_THAT(std::string(ranking[1]["config"]), HasSubstr("load_2_2_2_tiles"));
  EXPECT_NEAR(ranking[1]["sustained_us"], 23000.0, 200.0);
  EXPECT_LT(ranking[1]["relative_percent"], 100.0) << "by these times";
  for (const json& entry : ranking) {
    EXPECT_EQ(entry["sustained_us"].is_null(), entry["time_us"] > 24000.0) << entry["config"];
  }
  EXPECT_TRUE(problem["measuring"]["not_sustained_because"].is_null());
  const json best = json::parse(read("best.json"));
  EXPECT_EQ(best["problems"][0]["ranking"][0]["config"], ranking[0]["config"]);
  EXPECT_EQ(best["policy"]["sustain_s"], 0.2);
}

TEST_F(SustainedFinals, AreForProblemsAtThePowerCap) {
  const json problem = long_problem({"--sustain", "0.2"});
  EXPECT_EQ(problem["measuring"]["not_sustained_because"], "the GPU was not at its power cap");
  EXPECT_THAT(std::string(problem["ranking"][0]["config"]), HasSubstr("load_2_2_2_tiles"));
  EXPECT_TRUE(problem["ranking"][0]["sustained_us"].is_null());
}

TEST_F(SustainedFinals, ShortLaunchesHaveNone) {
  script_power_cap();
  EXPECT_EQ(only_problem({"--sustain", "0.2"})["measuring"]["not_sustained_because"],
            "its times are not compared at one clock");
}

TEST_F(SustainedFinals, TheTableSaysIt) {
  script_power_cap();
  const ProcessResult result =
      fatune({"sweep", "--family", "flash_sm80", "--seq", "16384", "--dhead", "128", "--dtype",
              "fp16", "--no-db", "--sustain", "0.2"});
  expect_ok(result);
  EXPECT_THAT(result.out, AllOf(HasSubstr("ranked by the median, at the power cap by sustained"),
                                HasSubstr(" are ranked by their times alone, in turns of 0.2 s"),
                                HasSubstr("  sustained  ")));
}

TEST_F(SustainedFinals, BadSecondsAndResultsOfOtherRunsAreRefused) {
  for (const char* seconds : {"0", "0.01", "601", "long"}) {
    expect_error(fatune(sweep_of({"--sustain", seconds})), ExitCode::usage, {"--sustain", seconds});
  }
  expect_error(fatune({"sweep", "--sustain", "2", "--reuse"}), ExitCode::usage,
               {"--sustain", "leave out --reuse"});
}

// --- Rules that depend on the problem ---

/// Two configurations. A rule drops one of them on the first of two problems.
class RacingWithSuchARule : public Racing {
 protected:
  RacingWithSuchARule() {
    const json part{{"list", {"(FP16, 128, 64, 64, 4): async+load_0_0_0_tiles"}},
                    {"overlay", {{"B_c", {32, 64}}}}};
    const json rule{{"id", "keys-filled"},
                    {"drops_when", "B_c > 32 && seq_len < 100 && sm_count > 1"},
                    {"reason", "{B_c} keys of {seq_len}"}};
    write("s.json", json{{"family", "flash_sm80"},
                         {"summary", "short blocks for short sequences"},
                         {"configs", {part}},
                         {"rules", {rule}}}
                        .dump());
  }
  json problems(const std::vector<std::string>& more) {
    const ProcessResult result = sweep(more);
    expect_ok(result);
    expect_schema(result.out, "results");
    return json::parse(result.out)["problems"];
  }
  ProcessResult sweep(const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"sweep",   "--seq", "64,256",  "--batch",     "1",
                                       "--heads", "1",     "--space", path("s.json")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return fatune(arguments);
  }
};

TEST_F(RacingWithSuchARule, ItDropsWhereTheProblemSaysSo) {
  const json both = problems({"--format", "json"});
  EXPECT_EQ(both[0]["ranking"].size(), 1U);
  EXPECT_EQ(both[0]["pruned"], 1);
  ASSERT_EQ(both[0]["failures"].size(), 1U);
  EXPECT_EQ(both[0]["failures"][0]["outcome"], "pruned");
  EXPECT_EQ(both[0]["failures"][0]["detail"], "keys-filled: 64 keys of 64");
  EXPECT_EQ(both[1]["ranking"].size(), 2U);
  EXPECT_TRUE(both[1]["failures"].empty());
  expect_ok(sweep({"--strict", "--no-db"}));
}

TEST_F(RacingWithSuchARule, TablesCountThemAndSayWhy) {
  const auto says_why =
      AllOf(HasSubstr("not in the rankings: 0 failed, 1 dropped by rules because of the problem"),
            HasSubstr("    1  pruned   keys-filled: 64 keys of 64  "));
  EXPECT_THAT(sweep({}).out, says_why);
  EXPECT_THAT(fatune({"show", "last"}).out, says_why);
}

TEST_F(RacingWithSuchARule, AnAuditTriesWhatItDrops) {
  const json both = problems({"--audit", "all", "--no-db", "--format", "json"});
  ASSERT_EQ(both[0]["audited"].size(), 1U);
  EXPECT_EQ(both[0]["audited"][0]["pruned_by"], "keys-filled");
  EXPECT_EQ(both[0]["audited"][0]["outcome"], "measured");
  EXPECT_TRUE(both[0]["failures"].empty());
  EXPECT_EQ(both[0]["audit"][0]["pruned"], 1);
  EXPECT_TRUE(both[1]["audited"].empty());
}

/// The label of the configuration that the rule drops on the shorter problem.
constexpr const char* kDropped = "128, 64, 64, 4";

TEST_F(RacingWithSuchARule, ACoverTimesTheWinnersThatItDrops) {
  script({{"us", {{kDropped, 100.0}, {"128, 64, 32, 4", 130.0}}}});
  const json all = problems({"--cover", "5", "--format", "json", "--out", path("out")});
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[2]["problem"], all[0]["problem"]);
  EXPECT_EQ(all[2]["run"], 2);
  ASSERT_EQ(all[2]["ranking"].size(), 1U);
  EXPECT_EQ(all[2]["ranking"][0]["config"], all[0]["ranking"][0]["config"]);
  ASSERT_EQ(all[2]["audited"].size(), 1U);
  EXPECT_EQ(all[2]["audited"][0]["config"], all[1]["ranking"][0]["config"]);
  EXPECT_EQ(all[2]["audited"][0]["pruned_by"], "keys-filled");
  EXPECT_NEAR(all[2]["audited"][0]["time_us"], 100.0, 0.5);
  EXPECT_EQ(json::parse(read("out/results.json"))["summary"]["winners"].size(), 2U);
  EXPECT_EQ(json::parse(read("out/best_configs.json"))["problems"].size(), 2U);
  for (const char* option : {"--run=last", "--best"}) {
    std::vector<std::string> arguments{"export", "--cover", "5", "--format", "json", option};
    if (arguments.back() == "--best") {
      arguments.push_back(path("out/results.json"));
    }
    const json table = fatune_json(arguments);
    EXPECT_EQ(table["cover"]["configs"].size(), 1U) << option;
    EXPECT_EQ(table["rows"].size(), 2U) << option;
  }
}

TEST_F(RacingWithSuchARule, ACoverIsShownBelowTheRankings) {
  script({{"us", {{kDropped, 120.0}, {"128, 64, 32, 4", 130.0}}}});
  const ProcessResult result = sweep({"--cover", "5", "--no-db"});
  expect_ok(result);
  EXPECT_THAT(result.out,
              AllOf(HasSubstr(", run 2: 1 ranked, 0 failed, 1 pruned"),
                    HasSubstr("1 pruned ones tried for the cover, with the winner:"),
                    HasSubstr("1 instead of 1 winning configurations: one is within 5 %"),
                    HasSubstr("winners of 2 problems")));
  EXPECT_THAT(sweep({"--cover", "5", "--no-db", "--format", "csv"}).err,
              HasSubstr("cover: 1 instead of 1 winning"));
}

TEST_F(RacingWithSuchARule, ACoverNeedsNothingMoreWhereNoWinnerIsDropped) {
  script({{"us", {{kDropped, 150.0}, {"128, 64, 32, 4", 100.0}}}});
  EXPECT_EQ(problems({"--cover", "0", "--no-db", "--format", "json"}).size(), 2U);
}

TEST_F(RacingWithSuchARule, ACoverThatIsInterruptedIsGoneOnWith) {
  script({{"slow_ms", 20}, {"us", {{kDropped, 100.0}, {"128, 64, 32, 4", 130.0}}}});
  const std::vector<std::string> with_cover{"--cover", "5", "--format", "json"};
  process_.when_err_has = "[4/4]";  // the second problem has ended
  process_.then = [](pid_t pid) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    ::kill(pid, SIGINT);
  };
  const ProcessResult stopped = sweep(with_cover);
  EXPECT_EQ(stopped.exit_code, static_cast<int>(ExitCode::interrupted)) << stopped.err;
  const json before = json::parse(stopped.out);
  ASSERT_EQ(before["problems"].size(), 3U);
  EXPECT_EQ(before["summary"]["winners"].size(), 2U);
  process_.when_err_has.clear();
  process_.then = nullptr;
  const ProcessResult resumed = sweep(with_cover);
  expect_ok(resumed);
  EXPECT_THAT(resumed.err, HasSubstr("continuing an interrupted run"));
  const json after = json::parse(resumed.out)["problems"];
  ASSERT_EQ(after.size(), 3U);
  EXPECT_EQ(after[0]["ranking"][0]["samples_us"],
            before["problems"][0]["ranking"][0]["samples_us"]);
  EXPECT_EQ(after[2]["audited"][0]["outcome"], "measured");
  EXPECT_EQ(after[2]["ranking"].size(), 1U);
}

TEST_F(RacingWithSuchARule, ACoverOfEstimatesIsRefused) {
  expect_error(sweep({"--cover", "5", "--device", "none", "--arch", "sm_80"}), ExitCode::no_gpu,
               {"--cover", "nothing would be timed", "measured times"});
  expect_error(sweep({"--cover", "-1"}), ExitCode::usage, {"--cover"});
}

TEST_F(Racing, OneThatCrashesUnderWayCostsAProcessAndNothingElse) {
  script({{"faults",
           {{{"at", "sample"}, {"label", "load_2_2_0_tiles+opt_softmax"}, {"do", "signal 11"}}}}});
  const json problem = only_problem({});
  EXPECT_EQ(problem["ranking"].size(), 7U);
  ASSERT_EQ(problem["failures"].size(), 1U);
  EXPECT_EQ(problem["failures"][0]["outcome"], "crashed");
  EXPECT_THAT(std::string(problem["failures"][0]["detail"]), HasSubstr("again when run alone"));
  EXPECT_NEAR(problem["ranking"][0]["time_us"], 100.0, 0.5);
}

TEST_F(Racing, AWinnerThatIsWrongInTheEndDoesNotWin) {
  script({{"faults",
           {{{"at", "recheck"},
             {"label", "load_2_2_0_tiles+opt_softmax"},
             {"do", "wrong in the end"}}}}});
  const json problem = only_problem({});
  ASSERT_EQ(problem["failures"].size(), 1U);
  EXPECT_EQ(problem["failures"][0]["outcome"], "wrong_result");
  EXPECT_THAT(std::string(problem["ranking"][0]["config"]),
              AllOf(HasSubstr("load_2_2_0_tiles"), Not(HasSubstr("opt_softmax"))));
}

TEST_F(Racing, ThrottledSamplesAreTakenAnewAndSaidSo) {
  script({{"throttle", {{{"from_sample", 9}, {"count", 3}, {"slower_percent", 40}}}},
          {"reading", true}});
  const json problem = only_problem({"--repeats", "6", "--warmup", "0"});
  EXPECT_EQ(problem["measuring"]["samples_retaken"], 3);
  EXPECT_GE(problem["measuring"]["samples_taken"], 8 * 6 + 3);
  for (const json& entry : problem["ranking"]) {
    EXPECT_EQ(entry["samples"], 6);
    EXPECT_LT(entry["max_us"].get<double>(), 1.05 * entry["min_us"].get<double>());
  }
  EXPECT_THAT(problem["conditions"]["throttle_reasons"], Contains("hw_thermal_slowdown"));
  EXPECT_THAT(fatune(sweep_of({"--repeats", "6", "--warmup", "0"})).out,
              AllOf(HasSubstr("3 retaken"), HasSubstr("hw_thermal_slowdown")));
}

TEST_F(Racing, ReadingsOfTheGpuAreRecorded) {
  script(json{{"reading", true}});
  const json problem = only_problem({});
  const json& conditions = problem["conditions"];
  EXPECT_EQ(conditions["readings"], problem["measuring"]["samples_taken"]);
  EXPECT_EQ(conditions["sm_mhz_median"], 1980.0);
  EXPECT_EQ(conditions["power_w_max"], 350.0);
  EXPECT_EQ(conditions["temperature_c_max"], 45.0);
  EXPECT_EQ(conditions["throttle_reasons"], json({"sw_power_cap"}));
  EXPECT_THAT(fatune(sweep_of({})).out, HasSubstr("1980 MHz (1980 to 1980), 350 W, 45 C"));
}

}  // namespace
}  // namespace fatune::testing_cli
