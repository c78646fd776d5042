// Tests `fatune sweep --against` and `--against-source`, with the fake driver for the GPU's figures
// and a worker with scripted times.
#include "cli/program.hpp"

#include <signal.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

namespace fatune::testing_cli {
namespace {

using nlohmann::json;
using testing::HasSubstr;

namespace fs = std::filesystem;

constexpr const char* kWide = "128, 128, 64, 4): async+eager+swizzled+load_2_2_2_tiles+opt_softmax";
constexpr const char* kSquare =
    "128, 64, 64, 4): async+eager+swizzled+load_2_2_2_tiles+opt_softmax";

class Gate : public ProgramTest {
 protected:
  Gate() {
    use_fake_gpu();
    process_.environment["FATUNE_WORKER"] = FATUNE_FAKE_WORKER;
  }

  /// Sets the times. Of the keys that match a label, the alphabetically first one counts.
  void times_are(json us_by_label, double noise_percent = 0.5, int noise_seed = 1) {
    us_by_label["load_2"] = 140.0;  // all other configurations
    const json script{{"noise_percent", noise_percent}, {"seed", noise_seed}, {"us", us_by_label}};
    process_.environment["FATUNE_FAKE_WORKER"] = script.dump();
  }

  std::string seq_len_ = "256";
  bool quiet_ = true;

  ProcessResult sweep(const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"sweep",
                                       "--seq",
                                       seq_len_,
                                       "--dhead",
                                       "128",
                                       "--dtype",
                                       "fp16",
                                       "--batch",
                                       "1",
                                       "--family",
                                       "flash_sm80",
                                       "--space",
                                       FATUNE_SOURCE_DIR "/tests/spaces/four_shapes.json",
                                       "--no-db"};
    if (quiet_) {
      arguments.emplace_back("-q");
    }
    arguments.insert(arguments.end(), more.begin(), more.end());
    return fatune(arguments);
  }

  json gate_of(const std::vector<std::string>& more, ExitCode expected) {
    std::vector<std::string> arguments = more;
    arguments.insert(arguments.end(), {"--format", "json"});
    const ProcessResult result = sweep(arguments);
    EXPECT_EQ(result.exit_code, static_cast<int>(expected)) << result.err;
    expect_schema(result.out, "results");
    return json::parse(result.out)["gate"];
  }

  void tune_while_the_128_wide_tile_is_best() {
    times_are({{kWide, 100.0}});
    expect_ok(sweep({"--best", path("best.json")}));
  }

  /// A folder with the built-in kernels, in which those of flash_sm80 have another line.
  std::string other_kernels(const std::string& name) {
    const fs::path folder = path(name);
    fs::create_directories(folder);
    fs::copy(FATUNE_SOURCE_DIR "/kernels/common", folder / "common", fs::copy_options::recursive);
    fs::copy(FATUNE_SOURCE_DIR "/kernels/flash_sm80", folder / "flash_sm80",
             fs::copy_options::recursive);
    std::ofstream(folder / "flash_sm80" / "flash_forward.cu", std::ios::app)
        << "__device__ int another_version;\n";
    return folder.string();
  }
};

TEST_F(Gate, TheSameWinnerIsEqualWithoutADuel) {
  tune_while_the_128_wide_tile_is_best();
  const json gate = gate_of({"--against", path("best.json")}, ExitCode::ok);
  EXPECT_EQ(gate["checks"][0]["verdict"], "equal");
  EXPECT_EQ(gate["checks"][0]["why"], "it is still the winner");
  EXPECT_TRUE(gate["checks"][0]["rounds"].is_null());
  EXPECT_EQ(gate["counts"]["equal"], 1);
  EXPECT_EQ(gate["worse"], false);
}

TEST_F(Gate, ANewWinnerTakesTurnsWithTheOldOne) {
  tune_while_the_128_wide_tile_is_best();
  times_are({{kWide, 100.0}, {kSquare, 95.0}});
  const json gate = gate_of({"--against", path("best.json")}, ExitCode::ok);
  const json check = gate["checks"][0];
  EXPECT_EQ(check["verdict"], "faster");
  EXPECT_THAT(std::string(check["rival"]), HasSubstr("128, 128, 64, 4"));
  EXPECT_EQ(check["rounds"], 200);
  EXPECT_NEAR(check["greatest_percent"], -5.0, 0.3);
}

TEST_F(Gate, AKernelThatIsOnePercentSlowerIsFoundAndNamed) {
  const std::string old = other_kernels("old");
  times_are({{" @ " + old, 100.0}, {kWide, 101.0}});
  const ProcessResult result = sweep({"--against-source", old, "--junit", path("junit.xml")});
  EXPECT_EQ(result.exit_code, static_cast<int>(ExitCode::worse)) << result.err;
  EXPECT_THAT(read("junit.xml"), testing::AllOf(HasSubstr("failures=\"1\""),
                                                HasSubstr("slower against (FP16, 128, ")));
  EXPECT_THAT(result.out, HasSubstr("winners against sources " + old));
  EXPECT_THAT(result.out, HasSubstr("1 slower"));
  const json check = gate_of({"--against-source", old}, ExitCode::worse)["checks"][0];
  EXPECT_EQ(check["verdict"], "slower");
  EXPECT_THAT(std::string(check["config"]), HasSubstr("128, 128, 64, 4"));
  EXPECT_NEAR(check["least_percent"], 1.0, 0.3);
}

TEST_F(Gate, AFifthOfAPercentIsEqualOrUndecided) {
  const std::string old = other_kernels("old");
  times_are({{" @ " + old, 100.0}, {kWide, 100.2}});
  const json check = gate_of({"--against-source", old}, ExitCode::ok)["checks"][0];
  EXPECT_THAT(std::string(check["verdict"]), testing::AnyOf("equal", "undecided"));
}

/// The wide tile became 0.2 % slower. Three samples cannot distinguish it from the square one,
/// which is 1.6 % slower still. If they choose the square one, the sources are not at fault.
TEST_F(Gate, AWinnerByChanceIsNotTakenForASlowerKernel) {
  const std::string old = other_kernels("old");
  const std::vector<std::string> more{
      "--strategy", "exhaustive", "--repeats", "3",     "--against-source",
      old,          "--format",   "json",      "--seed"};
  for (int seed = 1; seed <= 100; ++seed) {
    times_are({{kSquare + std::string(" @ ") + old, 104.0},
               {kWide + std::string(" @ ") + old, 100.0},
               {kSquare, 101.8},
               {kWide, 100.2}},
              1.5, seed);
    std::vector<std::string> arguments = more;
    arguments.push_back(std::to_string(seed));
    const json results = json::parse(sweep(arguments).out);
    const json check = results["gate"]["checks"][0];
    EXPECT_NE(check["verdict"], "slower");
    if (!check["why"].is_null()) {
      const std::string first = results["problems"][0]["ranking"][0]["config"];
      EXPECT_THAT(first, HasSubstr(kSquare));
      EXPECT_THAT(std::string(check["config"]), HasSubstr(kWide));
      EXPECT_EQ(check["why"], "tied with the winner " + first);
      return;
    }
  }
  FAIL() << "the square tile never won and lost";
}

/// The file's winner is still the fastest. Three samples cannot distinguish it from the square one.
/// If they choose the square one, that is not a slower winner: the file's is tied with it.
TEST_F(Gate, AFilesWinnerThatIsTiedWithTheNewOneIsEqual) {
  tune_while_the_128_wide_tile_is_best();
  for (int seed = 1; seed <= 100; ++seed) {
    times_are({{kWide, 100.0}, {kSquare, 101.6}}, 1.5, seed);
    const ProcessResult result =
        sweep({"--strategy", "exhaustive", "--repeats", "3", "--against", path("best.json"),
               "--format", "json", "--seed", std::to_string(seed)});
    const json check = json::parse(result.out)["gate"]["checks"][0];
    EXPECT_EQ(result.exit_code, static_cast<int>(ExitCode::ok)) << check;
    if (check["why"].dump().starts_with("\"tied with the winner")) {
      EXPECT_EQ(check["verdict"], "equal");
      return;
    }
  }
  FAIL() << "the square tile never won";
}

TEST_F(Gate, ToleratesWhatItIsToldTo) {
  const std::string old = other_kernels("old");
  times_are({{" @ " + old, 100.0}, {kWide, 101.0}});
  const json gate = gate_of({"--against-source", old, "--tolerance", "3"}, ExitCode::ok);
  EXPECT_EQ(gate["checks"][0]["verdict"], "equal");
}

TEST_F(Gate, AFilesWinnerIsBuiltFromTheOtherSources) {
  tune_while_the_128_wide_tile_is_best();
  const std::string old = other_kernels("old");
  times_are({{" @ " + old, 90.0}, {kWide, 100.0}});
  const json gate =
      gate_of({"--against", path("best.json"), "--against-source", old}, ExitCode::worse);
  EXPECT_THAT(std::string(gate["checks"][0]["rival"]), testing::EndsWith(" @ " + old));
  EXPECT_THAT(std::string(gate["against"]), HasSubstr("best.json with sources"));
}

TEST_F(Gate, TheSameMachineCodeIsEqual) {
  fs::copy(FATUNE_SOURCE_DIR "/kernels", path("same"), fs::copy_options::recursive);
  times_are({{kWide, 100.0}});
  const json check = gate_of({"--against-source", path("same")}, ExitCode::ok)["checks"][0];
  EXPECT_EQ(check["verdict"], "equal");
  EXPECT_THAT(std::string(check["why"]), HasSubstr("machine code"));
}

TEST_F(Gate, WhatTheFileLacksHasNoRival) {
  tune_while_the_128_wide_tile_is_best();
  seq_len_ = "128";
  const json gate = gate_of({"--against", path("best.json")}, ExitCode::ok);
  EXPECT_EQ(gate["checks"][0]["verdict"], "added");
  EXPECT_THAT(std::string(gate["checks"][0]["why"]), HasSubstr("no winner for this problem"));
}

TEST_F(Gate, ARevisionIsTakenFromTheRepositoryOfTheKernels) {
  const std::string folder = other_kernels("repository");
  const auto git = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(),
                     {"/usr/bin/git", "-C", folder, "-c", "user.name=t", "-c", "user.email=t"});
    expect_ok(run_process(arguments, {}));
  };
  git({"init", "-q"});
  git({"add", "."});
  git({"commit", "-q", "-m", "old"});
  std::ofstream(fs::path(folder) / "flash_sm80" / "flash_forward.cu", std::ios::app)
      << "__device__ int a_newer_version;\n";
  times_are({{" @ HEAD", 90.0}, {kWide, 100.0}});
  const json gate = gate_of({"--kernel-dir", folder, "--against-source", "HEAD"}, ExitCode::worse);
  EXPECT_THAT(std::string(gate["checks"][0]["rival"]), testing::EndsWith(" @ HEAD"));
  expect_error(sweep({"--kernel-dir", folder, "--against-source", "--output=x"}), ExitCode::usage,
               {"neither a folder nor a revision"});
}

TEST_F(Gate, ADuelThatIsInterruptedDecidesNothing) {
  tune_while_the_128_wide_tile_is_best();
  times_are({{kWide, 100.0}, {kSquare, 95.0}});
  json script = json::parse(process_.environment["FATUNE_FAKE_WORKER"]);
  script["slow_ms"] = 20;
  process_.environment["FATUNE_FAKE_WORKER"] = script.dump();
  process_.when_err_has = "[8/8]";
  process_.then = [](pid_t pid) {  // the duel takes eight seconds
    std::this_thread::sleep_for(std::chrono::milliseconds(1500));
    ::kill(pid, SIGINT);
  };
  quiet_ = false;
  const json gate =
      gate_of({"--against", path("best.json"), "--strategy", "exhaustive", "--repeats", "3"},
              ExitCode::interrupted);
  ASSERT_EQ(gate["checks"].size(), 1U);
  EXPECT_EQ(gate["checks"][0]["verdict"], "undecided");
  EXPECT_THAT(std::string(gate["checks"][0]["doubt"]), HasSubstr("ended"));
}

TEST_F(Gate, OfAFileOfSeveralGpuModelsTheWinnersOfThisOneCount) {
  process_.environment["FATUNE_FAKE_NAME"] = "Scripted GPU";  // as the fake worker says
  tune_while_the_128_wide_tile_is_best();
  const json best = json::parse(read("best.json"));
  const json other = on_another_model(best);
  write("best.json", document_of({other, best}).dump());
  const json gate = gate_of({"--against", path("best.json")}, ExitCode::ok);
  EXPECT_EQ(gate["checks"][0]["why"], "it is still the winner");
  EXPECT_EQ(gate["checks"][0]["doubt"], nullptr);
  write("best.json", document_of({other, other}).dump());
  expect_error(sweep({"--against", path("best.json")}), ExitCode::usage,
               {"best.json", "other GPU models"});
}

TEST_F(Gate, BadInputIsAnErrorBeforeAnythingIsMeasured) {
  process_.folder = path("");
  for (const char* const option : {"--tolerance", "--junit"}) {
    expect_error(sweep({option, "1"}), ExitCode::usage, {option, "--against FILE"});
  }
  expect_error(sweep({"--against", path("none.json")}), ExitCode::bad_file, {"none.json"});
  expect_error(sweep({"--against-source", path("none")}), ExitCode::usage,
               {"none", "--kernel-dir"});
  fs::create_directories(path("empty"));
  expect_error(sweep({"--against-source", path("empty")}), ExitCode::bad_file, {"empty"});
}

TEST_F(Gate, WithoutAGpuThereIsNothingToCompare) {
  tune_while_the_128_wide_tile_is_best();
  expect_error(sweep({"--against", path("best.json"), "--device", "none"}), ExitCode::no_gpu,
               {"--against", "measured times"});
}

}  // namespace
}  // namespace fatune::testing_cli
