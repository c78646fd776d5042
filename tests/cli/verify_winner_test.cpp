// Tests `fatune verify-winner`, with the fake driver for the GPU's figures and a worker with
// scripted times.
#include "cli/program.hpp"

#include <signal.h>

#include <chrono>
#include <thread>

namespace fatune::testing_cli {
namespace {

using nlohmann::json;

class VerifyWinner : public ProgramTest {
 protected:
  VerifyWinner() {
    use_fake_gpu();
    process_.environment["FATUNE_WORKER"] = FATUNE_FAKE_WORKER;
  }

  void times_are(const json& us_by_label, const json& faults = json::array()) {
    const json script{{"noise_percent", 0.2}, {"us", us_by_label}, {"faults", faults}};
    process_.environment["FATUNE_FAKE_WORKER"] = script.dump();
  }

  void sweep_while_the_128_wide_tile_is_best(const std::string& seq_lens = "256") {
    times_are({{"128, 128, 64, 4): async+eager+swizzled+load_2_2_2_tiles+opt_softmax", 100.0},
               {"load_2", 120.0}});
    expect_ok(fatune({"sweep", "--seq", seq_lens, "--dhead", "128", "--dtype", "fp16", "--batch",
                      "1", "--space", FATUNE_SOURCE_DIR "/tests/spaces/four_shapes.json", "--no-db",
                      "-q", "--best", path("best.json")}));
  }

  ProcessResult verify(const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments{"verify-winner", path("best.json"), "--no-db", "-q"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return fatune(arguments);
  }

  /// The verdict on the only winner.
  json verdict(ExitCode expected, const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments{"--format", "json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const ProcessResult result = verify(arguments);
    EXPECT_EQ(result.exit_code, static_cast<int>(expected)) << result.err;
    expect_schema(result.out, "results");
    const json checks = json::parse(result.out)["gate"]["checks"];
    EXPECT_EQ(checks.size(), 1U);
    return checks[0];
  }
};

TEST_F(VerifyWinner, IsEqualIfItIsStillTheFastest) {
  sweep_while_the_128_wide_tile_is_best();
  const json check = verdict(ExitCode::ok);
  EXPECT_EQ(check["verdict"], "equal");
  EXPECT_NEAR(check["time_us"], 100.0, 1.0);
}

TEST_F(VerifyWinner, IsSlowerIfAnotherIsFasterBeyondDoubt) {
  sweep_while_the_128_wide_tile_is_best();
  times_are({{"128, 64, 64, 4", 90.0}, {"128, 128, 64, 4", 100.0}, {"32, 4", 140.0}});
  const json check = verdict(ExitCode::beaten);
  EXPECT_EQ(check["verdict"], "slower");
  EXPECT_NEAR(check["slower_percent"], 11.1, 1.0);
  EXPECT_THAT(std::string(check["config"]), testing::HasSubstr("(FP16, 128, 128, 64, 4)"));
  EXPECT_THAT(std::string(check["rival"]), testing::HasSubstr("(FP16, 128, 64, 64, 4)"));
  const ProcessResult shown = verify();
  EXPECT_THAT(shown.out, testing::HasSubstr("best.json against this run's"));
  EXPECT_THAT(shown.out, testing::HasSubstr("1 slower"));
  EXPECT_THAT(verify({"--format", "csv"}).out, testing::HasSubstr("\nslower,"));
}

TEST_F(VerifyWinner, ToleratesWhatItIsToldTo) {
  sweep_while_the_128_wide_tile_is_best();
  times_are({{"128, 64, 64, 4", 90.0}, {"128, 128, 64, 4", 100.0}, {"32, 4", 140.0}});
  expect_ok(verify({"--tolerance", "20"}));
}

TEST_F(VerifyWinner, FailsWhenTheWinnerCrashes) {
  sweep_while_the_128_wide_tile_is_best();
  times_are({{"128, 64, 64, 4", 120.0}, {"32, 4", 140.0}},
            {{{"at", "admit"}, {"label", "128, 128, 64, 4"}, {"do", "crash scripted"}}});
  const ProcessResult result = verify();
  EXPECT_EQ(result.exit_code, static_cast<int>(ExitCode::beaten)) << result.err;
  EXPECT_THAT(result.out, testing::HasSubstr("failed"));
  EXPECT_THAT(result.out, testing::HasSubstr("scripted"));
}

TEST_F(VerifyWinner, IsUndecidedIfABudgetLeavesTooFewSamples) {
  sweep_while_the_128_wide_tile_is_best();
  EXPECT_EQ(verdict(ExitCode::undecided, {"--budget", "0.001"})["doubt"], "too few samples");
  times_are({{"128, 64, 64, 4", 93.0}, {"128, 128, 64, 4", 100.0}, {"32, 4", 140.0}});
  EXPECT_EQ(verdict(ExitCode::undecided, {"--budget", "0.001"})["doubt"], "too few samples");
}

TEST_F(VerifyWinner, DecidesNothingThatWasInterrupted) {
  sweep_while_the_128_wide_tile_is_best("128,256");
  json script = json::parse(process_.environment["FATUNE_FAKE_WORKER"]);
  script["slow_ms"] = 20;
  process_.environment["FATUNE_FAKE_WORKER"] = script.dump();
  process_.when_err_has = "[8/16]";
  process_.then = [](pid_t pid) {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    ::kill(pid, SIGINT);
  };
  const ProcessResult result =
      fatune({"verify-winner", path("best.json"), "--no-db", "--format", "json"});
  EXPECT_EQ(result.exit_code, static_cast<int>(ExitCode::interrupted)) << result.err;
  expect_schema(result.out, "results");
  const json report = json::parse(result.out);
  EXPECT_FALSE(report["complete"]);
  const json checks = report["gate"]["checks"];
  EXPECT_EQ(checks[0]["verdict"], "equal");
  EXPECT_EQ(checks[1]["verdict"], "undecided");
  EXPECT_THAT(std::string(checks[1]["config"]), testing::HasSubstr("128, 128, 64, 4"));
}

TEST_F(VerifyWinner, ComparesWithTheTimesOfTheFile) {
  sweep_while_the_128_wide_tile_is_best();
  times_are({{"128, 64, 64, 4", 126.0}, {"128, 128, 64, 4", 105.0}, {"32, 4", 140.0}});
  const json check = verdict(ExitCode::ok);
  EXPECT_EQ(check["verdict"], "equal");
  EXPECT_NEAR(check["file_us"], 100.0, 1.0);
  EXPECT_NEAR(check["since_file_percent"], 5.0, 1.0);
}

TEST_F(VerifyWinner, SaysThatTheFileIsFromAnotherGpuOrDriver) {
  process_.environment["FATUNE_LIBNVML"] = FATUNE_FAKE_NVML;
  sweep_while_the_128_wide_tile_is_best();
  json best = json::parse(read("best.json"));
  best["device"]["name"] = "NVIDIA Elsewhere";
  best["toolchain"]["driver"] = "7.5";
  write("best.json", best.dump());
  const ProcessResult result = fatune({"verify-winner", path("best.json"), "--no-db"});
  expect_ok(result);
  EXPECT_THAT(result.err, testing::HasSubstr("GPU model: NVIDIA Elsewhere, now "));
  EXPECT_THAT(result.err, testing::HasSubstr("driver: 7.5, now 580.159.04"));
}

TEST_F(VerifyWinner, TakesTheWinnersOfThisGpuModelFromAFileOfSeveral) {
  process_.environment["FATUNE_FAKE_NAME"] = "Scripted GPU";  // as the fake worker says
  sweep_while_the_128_wide_tile_is_best();
  const json best = json::parse(read("best.json"));
  write("best.json", document_of({on_another_model(best), best}).dump());
  EXPECT_THAT(std::string(verdict(ExitCode::ok)["config"]), testing::HasSubstr("128, 128, 64, 4"));
}

TEST_F(VerifyWinner, TakesResultsAndStoredRunsToo) {
  times_are({{"load_2", 120.0}});
  expect_ok(fatune({"sweep", "--seq", "128", "--dhead", "128", "--dtype", "fp16", "--batch", "1",
                    "--space", FATUNE_SOURCE_DIR "/tests/spaces/four_shapes.json", "-q", "--db",
                    path("runs.db"), "--out", path("out")}));
  for (const std::string& input : {path("out/results.json"), std::string("last")}) {
    const ProcessResult result =
        fatune({"verify-winner", input, "-q", "--db", path("runs.db"), "--format", "csv"});
    expect_ok(result);
    EXPECT_THAT(result.out, testing::HasSubstr("\nequal,b1 s128 h16 d128 FP16,"));
  }
}

TEST_F(VerifyWinner, NeedsAWinner) {
  sweep_while_the_128_wide_tile_is_best();
  json best = json::parse(read("best.json"));
  best["problems"] = json::array();
  write("best.json", best.dump());
  expect_error(verify(), ExitCode::bad_file, {"best.json", "names no winner"});
}

TEST_F(VerifyWinner, NeedsAFileOfASweep) {
  write("best.json", R"({"format": "something else"})");
  expect_error(verify(), ExitCode::bad_file, {"best.json"});
  write("best.json", "no JSON");
  expect_error(verify(), ExitCode::bad_file, {"best.json"});
}

TEST_F(VerifyWinner, OffersTheWinnersOfTheNearestGpu) {
  process_.environment["FATUNE_FAKE_NAME"] = "NVIDIA H100 Nowhere";
  expect_error(fatune({"verify-winner", "--no-db"}), ExitCode::usage,
               {"no winners for NVIDIA H100 Nowhere", "NVIDIA H100 80GB HBM3",
                "fatune verify-winner nvidia-h100-80gb-hbm3"});
}

TEST_F(VerifyWinner, TakesTheWinnersThatAreShippedForANamedGpu) {
  // It has been read once a winner turns out to be of another family than the one that is named.
  expect_error(fatune({"verify-winner", "h200", "--no-db", "--family", "flash_sm80"}),
               ExitCode::usage, {"ws_pp"});
  expect_error(fatune({"verify-winner", "h300", "--no-db"}), ExitCode::bad_file, {"h300"});
}

TEST_F(VerifyWinner, NeedsAGpu) {
  sweep_while_the_128_wide_tile_is_best();
  expect_error(verify({"--device", "none"}), ExitCode::no_gpu, {"a GPU is required"});
}

}  // namespace
}  // namespace fatune::testing_cli
