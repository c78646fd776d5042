// Tests sweep and run on a machine without a GPU.
#include "cli/program.hpp"

#include <sstream>

namespace fatune::testing_cli {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class NoGpu : public ProgramTest {
 protected:
  /// The toy family with a useless instruction, which the emulator does not support, where `when`
  /// holds.
  [[nodiscard]] std::string uncovered_family(const std::string& when = "true") const {
    return toy_family_with("if (" + when +
                           ") { asm volatile(\"{ .reg .s32 x; vadd.s32.s32.s32 x, 1, 2; }\"); }");
  }
};

const std::string kBrokenFolder = FATUNE_SOURCE_DIR "/tests/families/broken_flash";

const std::vector<std::string> kSmallSweep{"sweep",   "--seq", "128",     "--dhead", "128",
                                           "--dtype", "fp16",  "--space", kFewSpace};

std::vector<std::string> extended(std::vector<std::string> arguments,
                                  const std::vector<std::string>& more) {
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    lines.push_back(line);
  }
  return lines;
}

/// Persistent kernels: a few blocks share thousands of tiles.
TEST_F(NoGpu, NoEstimateOfAHopperKernelReachesTheNominalPeak) {
  for (const bool emulate : {true, false}) {
    std::vector<std::string> sweep{"sweep",   "--space", "hopper_ci", "--dhead", "128",
                                   "--dtype", "fp16",    "--seq",     "4096",    "--arch",
                                   "sm_90a",  "--no-db", "--format",  "json"};
    if (!emulate) {
      sweep.emplace_back("--no-emulate");
    }
    const json ranking = fatune_json(sweep)["problems"][0]["ranking"];
    EXPECT_EQ(ranking.size(), 2U) << emulate;
    for (const json& entry : ranking) {
      EXPECT_LT(entry["literature_tflops"], 990.0) << entry["config"] << emulate;
      EXPECT_GT(entry["literature_tflops"], 300.0) << entry["config"] << emulate;
    }
  }
}

TEST_F(NoGpu, SweepRanksByEstimateAndSaysSoFirstAndLast) {
  const ProcessResult result =
      fatune({"sweep", "--seq", "128", "--dhead", "128", "--dtype", "fp16", "--space", "64,32"});
  expect_ok(result);
  EXPECT_THAT(result.err, StartsWith("NOT MEASURED: "));
  EXPECT_THAT(lines_of(result.out).front(), StartsWith("NOT MEASURED"));
  EXPECT_THAT(lines_of(result.out).back(), StartsWith("NOT MEASURED"));
  EXPECT_THAT(result.out, HasSubstr("8 ranked, 0 failed, 24 pruned"));
  EXPECT_THAT(result.err, HasSubstr("[8/8]"));
  EXPECT_THAT(result.err, Not(HasSubstr("\x1b")));
}

TEST_F(NoGpu, EveryFormatSaysThatNothingWasMeasured) {
  const ProcessResult result = fatune(extended(kSmallSweep, {"--format", "json"}));
  expect_schema(result.out, "results");
  const json report = json::parse(result.out);
  EXPECT_FALSE(report["measured"]);
  EXPECT_TRUE(report["complete"]);
  EXPECT_EQ(report["problems"][0]["ranking"].size(), 2U);
  EXPECT_EQ(report["problems"][0]["ranking"][0]["outcome"], "estimated");
  for (const json& entry : report["problems"][0]["ranking"]) {
    EXPECT_EQ(entry["verified"], "emulated") << entry;
    EXPECT_EQ(entry["verification"]["inputs"].size(), 5U);
    EXPECT_FALSE(entry["measured"]);
  }
  EXPECT_THAT(lines_of(result.err).back(), StartsWith("NOT MEASURED"));
  EXPECT_THAT(fatune(extended(kSmallSweep, {"--format", "csv"})).out,
              HasSubstr(",estimated,false,emulated,"));
  EXPECT_THAT(fatune(extended(kSmallSweep, {"--format", "md"})).out, StartsWith("**NOT MEASURED"));
}

TEST_F(NoGpu, ItSaysOnWhatItEmulated) {
  EXPECT_THAT(
      fatune({"sweep", "--seq", "512", "--dhead", "128", "--dtype", "fp16", "--space", kFewSpace})
          .out,
      HasSubstr("2 of 2 verified: emulated on b1 s256 h16 d128 FP16, head 15 alone; "
                "schedules late, random 1"));
}

TEST_F(NoGpu, EstimatesComeFromWhatWasCounted) {
  const std::string plain = "(FP16, 128, 64, 64, 4): async+eager+swizzled+load_0_2_2_tiles";
  const std::vector<std::string> arguments{"run",      "--seq",    "4096",
                                           "--format", "json",     "--config",
                                           plain,      "--config", plain + "+opt_softmax"};
  const json ranking = fatune_json(arguments)["problems"][0]["ranking"];
  ASSERT_EQ(ranking.size(), 2U);
  EXPECT_EQ(ranking[0]["estimated_from"], "emulation");
  EXPECT_EQ(ranking[0]["config"], plain + "+opt_softmax") << "it does less outside of the products";
  EXPECT_LT(ranking[0]["time_us"], ranking[1]["time_us"]);
  const json declared =
      fatune_json(extended(arguments, {"--no-emulate"}))["problems"][0]["ranking"];
  EXPECT_EQ(declared[0]["estimated_from"], "family");
}

TEST_F(NoGpu, EachEstimateSaysWhatItIsFromAndAllCompare) {
  const std::string counted = "(FP16, 64, 32): unroll_1";
  const std::string uncovered = "(FP16, 64, 64): unroll_1";
  const std::vector<std::string> arguments{
      "run",   "--kernel-dir", uncovered_family("FATUNE_BLOCK_ROWS == 64"),
      "--seq", "64",           "--config",
      counted, "--config",     uncovered};
  const json ranking =
      fatune_json(extended(arguments, {"--format", "json"}))["problems"][0]["ranking"];
  ASSERT_EQ(ranking.size(), 2U);
  for (const json& entry : ranking) {
    const bool is_counted = entry["config"] == counted;
    EXPECT_EQ(entry["estimated_from"], is_counted ? "emulation" : "problem");
    EXPECT_EQ(entry["verified"].is_null(), !is_counted);
  }
  const double times[]{ranking[0]["time_us"], ranking[1]["time_us"]};
  EXPECT_LT(times[1], 2 * times[0]) << "they do the same work";
  EXPECT_THAT(fatune(arguments).out,
              HasSubstr("estimated: 1 from the problem alone, 1 from the instructions that "
                        "emulation counted"));
}

TEST_F(NoGpu, AKernelWithoutTensorCoresIsNotEstimatedWithThem) {
  const json report = fatune_json({"sweep", "--kernel-dir", kToyFolder, "--seq", "1024", "--arch",
                                   "sm_90a", "--no-emulate", "--format", "json"});
  const double fp32_tflops = 2.0 * 128 * 132 * 1.98e9 / 1e12;
  for (const json& entry : report["problems"][0]["ranking"]) {
    EXPECT_EQ(entry["estimated_from"], "problem");
    EXPECT_LT(entry["literature_tflops"], fp32_tflops) << entry["config"];
  }
}

TEST_F(NoGpu, OutputsSayHowFarTheOrderIsKnownToHold) {
  EXPECT_THAT(fatune(kSmallSweep).out,
              HasSubstr("the order of flash_sm80's estimates: rank correlation -0.15 to 0.98"));
  const json report =
      fatune_json({"sweep", "--kernel-dir", kToyFolder, "--seq", "64", "--format", "json"});
  EXPECT_THAT(std::string(report["estimate_orders"]["toy_attention"]), HasSubstr("means nothing"));
}

TEST_F(NoGpu, ListEstimatesWithoutCompiling) {
  const std::vector<std::string> list{"list",      "--family", "flash_sm90", "--space",
                                      "hopper_ci", "--dhead",  "128",        "--dtype",
                                      "fp16",      "--format", "json"};
  const json report = fatune_json(extended(list, {"--seq", "4096"}));
  ASSERT_FALSE(report["kept"].empty());
  for (const json& kept : report["kept"]) {
    EXPECT_GT(kept["estimate_us"], 1000.0);
  }
  EXPECT_TRUE(fatune_json(list)["kept"][0]["estimate_us"].is_null());
}

TEST_F(NoGpu, WithoutEmulationNothingIsVerifiedAndItSaysSo) {
  const ProcessResult result = fatune(extended(kSmallSweep, {"--no-emulate"}));
  EXPECT_THAT(result.out, HasSubstr("NOT VERIFIED: nothing was run"));
  const json report = fatune_json(extended(kSmallSweep, {"--no-emulate", "--format", "json"}));
  EXPECT_TRUE(report["problems"][0]["ranking"][0]["verified"].is_null());
}

TEST_F(NoGpu, WhatIsWrongOrFlaggedIsNotRanked) {
  const auto broken = [](const std::string& fault) {
    return "(FP16, 64, 64, 32, " + fault + "): async+eager+opt_softmax";
  };
  const std::vector<std::string> arguments{"run",
                                           "--kernel-dir",
                                           kBrokenFolder,
                                           "--seq",
                                           "500",
                                           "--config",
                                           broken("wrong_mask"),
                                           "--config",
                                           broken("missing_barrier"),
                                           "--config",
                                           broken("none"),
                                           "--causal",
                                           "--strict",
                                           "--format",
                                           "json"};
  const ProcessResult result = fatune(arguments);
  EXPECT_EQ(result.exit_code, static_cast<int>(ExitCode::failed_outcomes)) << result.err;
  expect_schema(result.out, "results");
  const json problem = json::parse(result.out)["problems"][0];
  ASSERT_EQ(problem["ranking"].size(), 1U);
  EXPECT_EQ(problem["ranking"][0]["config"], broken("none"));
  ASSERT_EQ(problem["failures"].size(), 2U);
  EXPECT_EQ(problem["failures"][0]["outcome"], "wrong_result");
  EXPECT_TRUE(problem["failures"][0]["verified"].is_null());
  EXPECT_EQ(problem["failures"][1]["outcome"], "flagged");
  EXPECT_THAT(problem["failures"][1]["detail"].get<std::string>(),
              AllOf(HasSubstr("race: "), HasSubstr("; at "), HasSubstr("; the other access at "),
                    HasSubstr("flash_sm80/")));
}

TEST_F(NoGpu, WhatCannotBeEmulatedIsRankedAndSaysSo) {
  const std::vector<std::string> arguments{
      "run", "--kernel-dir", uncovered_family(),        "--seq",
      "64",  "--config",     "(FP16, 64, 32): unroll_1"};
  const ProcessResult table = fatune(arguments);
  expect_ok(table);
  EXPECT_THAT(table.out, AllOf(HasSubstr("1 NOT VERIFIED, among them"), HasSubstr("vadd")));
  const json report = fatune_json(extended(arguments, {"--format", "json"}));
  const json& entry = report["problems"][0]["ranking"][0];
  EXPECT_TRUE(entry["verified"].is_null());
  EXPECT_THAT(entry["not_verified_because"].get<std::string>(), HasSubstr("vadd"));
}

TEST_F(NoGpu, CheckEmulatesEveryInputAndSeed) {
  const ProcessResult result =
      fatune({"check", "--seq", "512", "--batch", "1", "--heads", "1", "--config", kConfig,
              "--seeds", "2", "--diff", "--format", "json"});
  expect_ok(result);
  expect_schema(result.out, "check");
  const json report = json::parse(result.out);
  EXPECT_FALSE(report["measured"]);
  ASSERT_EQ(report["checks"].size(), 10U) << "five inputs, two seeds";
  EXPECT_EQ(report["checks"][9]["seed"], 2);
  for (const json& check : report["checks"]) {
    EXPECT_EQ(check["outcome"], "right");
    EXPECT_EQ(check["tool"], "emulator");
    EXPECT_EQ(check["verified"], "emulated");
    EXPECT_EQ(check["rows"]["beyond_limit"], 0);
  }
}

TEST_F(NoGpu, CheckNamesWhatEmulationFinds) {
  const std::string config = "(FP16, 64, 64, 32, missing_wait): async+eager+opt_softmax";
  const ProcessResult result = fatune({"check", "--kernel-dir", kBrokenFolder, "--config", config});
  EXPECT_EQ(result.exit_code, static_cast<int>(ExitCode::failed_outcomes)) << result.err;
  EXPECT_THAT(result.err, StartsWith("NOT RUN ON A GPU: "));
  EXPECT_THAT(result.out, AllOf(StartsWith("EMULATED on the CPU"), HasSubstr("flagged"),
                                HasSubstr("in_flight"), HasSubstr("3 of 3 WRONG")));
}

TEST_F(NoGpu, CheckNamesBothEndsOfARace) {
  const std::vector<std::string> of{"--kernel-dir", kBrokenFolder, "--config",
                                    "(FP16, 64, 64, 32, missing_barrier): async+eager+opt_softmax"};
  const ProcessResult check = fatune(extended({"check", "--small", "--format", "json"}, of));
  expect_schema(check.out, "check");
  const json flagged = json::parse(check.out)["checks"][0];
  const std::string detail = flagged["detail"];
  EXPECT_THAT(detail, AllOf(StartsWith("race: reads sQ or sO"), HasSubstr("; at common/ptx_mma"),
                            HasSubstr("; the other access at common/ptx_memory.cuh"),
                            ContainsRegex("; and [0-9]+ more, in [0-9]+ groups$")));
  const json& first = flagged["findings"][0];
  EXPECT_EQ(first["group"], 1);
  EXPECT_THAT(first["against"][0].get<std::string>(),
              StartsWith("asynchronous write by thread 8 in block 0 at common/ptx_memory.cuh"));
}

TEST_F(NoGpu, AWindowThatIsLongerThanWhatIsEmulatedIsTriedAsANarrowOne) {
  const std::vector<std::string> windowed{"run", "--no-db",  "--seq", "1024",     "--window",
                                          "300", "--config", kConfig, "--format", "json"};
  const json right = fatune_json(windowed)["problems"][0]["ranking"][0];
  EXPECT_THAT(right["verification"]["method"].get<std::string>(),
              HasSubstr(", and with a window of 86; schedules"));
  std::filesystem::copy(FATUNE_SOURCE_DIR "/kernels/flash_sm80", path("flash_sm80"),
                        std::filesystem::copy_options::recursive);
  json family = json::parse(read("flash_sm80/family.json"));
  family["defines"]["FATUNE_WINDOW"] = "0";
  write("flash_sm80/family.json", family.dump());
  const json report = fatune_json(extended(windowed, {"--kernel-dir", path("flash_sm80")}),
                                  ExitCode::nothing_ranked);
  EXPECT_EQ(report["problems"][0]["failures"][0]["outcome"], "wrong_result");
}

TEST_F(NoGpu, CheckNeedsAGpuForASanitizerAndWithoutEmulation) {
  expect_error(fatune({"check", "--no-emulate", "--config", kConfig}), ExitCode::no_gpu,
               {"a GPU is required"});
  expect_error(fatune({"check", "--require-gpu", "--config", kConfig}), ExitCode::no_gpu,
               {"a GPU is required"});
}

TEST_F(NoGpu, QuietKeepsStandardErrorEmpty) {
  EXPECT_EQ(fatune(extended(kSmallSweep, {"--quiet"})).err, "");
}

TEST_F(NoGpu, EveryCommandTakesAnArchitectureThatRunsTheKernels) {
  const std::string folder = toy_family_with("");
  json family = json::parse(read("toy_attention/family.json"));
  family["min_arch"] = "sm_100";
  write("toy_attention/family.json", family.dump());
  const std::string config = "(FP16, 64, 32): unroll_1";
  const std::vector<std::string> commands[] = {
      {"sweep", "--seq", "64", "--no-emulate", "--no-db"},
      {"run", "--seq", "64", "--no-emulate", "--no-db", "--config", config},
      {"check", "--seq", "64", "--config", config},
      {"debug", "--seq", "64", "--config", config},
      {"emulate", "--seq", "64", "--config", config},
      {"compile", "--config", config}};
  for (const std::vector<std::string>& command : commands) {
    SCOPED_TRACE(command.front());
    const ProcessResult result = fatune(extended(command, {"--kernel-dir", folder}));
    expect_ok(result);
    EXPECT_THAT(result.out + result.err, HasSubstr("sm_100"));
  }
}

TEST_F(NoGpu, RequireGpuIsAnError) {
  expect_error(fatune(extended(kSmallSweep, {"--require-gpu"})), ExitCode::no_gpu,
               {"a GPU is required", "libcuda", "set FATUNE_LIBCUDA to the driver"});
  expect_error(fatune(extended(kSmallSweep, {"--device", "0"})), ExitCode::no_gpu, {"libcuda"});
}

TEST_F(NoGpu, EstimatesForOtherArchitectures) {
  const json report = fatune_json(
      {"run", "--seq", "512", "--arch", "sm_80", "--format", "json", "--config", kConfig});
  EXPECT_EQ(report["device"]["arch"], "sm_80");
  EXPECT_EQ(report["device"]["sm_count"], 108);
}

TEST_F(NoGpu, WithoutSwizzleTheEstimatePaysForBankConflicts) {
  const json report = fatune_json({"run", "--seq", "1024", "--format", "json", "--config",
                                   "(FP16, 128, 64, 64, 4): async+load_0_0_0_tiles", "--config",
                                   "(FP16, 128, 64, 64, 4): async+swizzled+load_0_0_0_tiles"});
  const json& ranking = report["problems"][0]["ranking"];
  ASSERT_EQ(ranking.size(), 2U);
  EXPECT_TRUE(ranking[0]["parameters"]["swizzled"]);
  EXPECT_GT(ranking[1]["time_us"], 1.5 * double(ranking[0]["time_us"]));
}

TEST_F(NoGpu, RunReadsKernelNames) {
  const json report = fatune_json(
      {"run", "--seq", "512", "--format", "json", "--config",
       "void flash_forward_kernel<FlashForwardKernelConfig{5, 128, 64, 32, 4, 1, 1, 1, 2, 2, 2, 0, "
       "1}>(AttentionForwardArgs)"});
  EXPECT_EQ(report["problems"][0]["ranking"][0]["config"], kConfig);
}

TEST_F(NoGpu, RaggedLengthsAreTaken) {
  const json report = fatune_json(
      {"run", "--seq", "1,333,512", "--causal", "--format", "json", "--config", kConfig});
  ASSERT_EQ(report["problems"].size(), 3U);
  EXPECT_EQ(report["problems"][1]["problem"]["seq_len"], 333);
  EXPECT_EQ(report["problems"][1]["ranking"].size(), 1U);
}

TEST_F(NoGpu, OptionsThatOnlyTimingHeedsDoNothingAndItSaysSo) {
  const ProcessResult run = fatune({"run", "--seq", "512", "--runs", "3", "--counters", "2",
                                    "--budget", "5", "--format", "json", "--config", kConfig});
  expect_ok(run);
  EXPECT_THAT(run.err,
              HasSubstr("no effect, because nothing is timed: --budget, --runs, --counters"));
  EXPECT_EQ(json::parse(run.out)["problems"].size(), 1U);
  const ProcessResult sweep = fatune(extended(kSmallSweep, {"--audit", "4", "--format", "json"}));
  expect_ok(sweep);
  EXPECT_THAT(sweep.err, HasSubstr("no effect, because nothing is timed: --audit\n"));
  EXPECT_EQ(json::parse(sweep.out)["problems"][0]["audited"].size(), 0U);
  EXPECT_THAT(fatune(kSmallSweep).err, Not(HasSubstr("no effect")));
}

TEST_F(NoGpu, WhatWasEmulatedIsNotEmulatedAgain) {
  const std::vector<std::string> arguments = extended(
      kSmallSweep, {"--cache-dir", path("cache"), "--no-db", "--verbose", "--format", "json"});
  const auto ranking_of = [](const ProcessResult& result) {
    return json::parse(result.out)["problems"][0]["ranking"];
  };
  const ProcessResult first = fatune(arguments);
  EXPECT_THAT(first.err, HasSubstr("emulated (FP16"));
  const ProcessResult second = fatune(arguments);
  EXPECT_THAT(second.err, Not(HasSubstr("emulated (FP16")));
  json expected = ranking_of(first);
  for (json& entry : expected) {
    EXPECT_EQ(entry["estimated_from"], "emulation");
    entry["from_cache"] = true;
  }
  EXPECT_EQ(ranking_of(second), expected);
  EXPECT_THAT(fatune(extended(arguments, {"--seed", "2"})).err, HasSubstr("emulated (FP16"))
      << "other inputs";
  EXPECT_THAT(fatune({"doctor", "--cache-dir", path("cache")}).out,
              HasSubstr("4 verdicts of emulation"));
  for (const auto& file : std::filesystem::directory_iterator(path("cache"))) {
    if (file.path().extension() == ".verdict") {
      std::filesystem::resize_file(file.path(), std::filesystem::file_size(file.path()) - 1);
    }
  }
  const ProcessResult damaged = fatune(arguments);
  EXPECT_THAT(damaged.err, HasSubstr("emulated (FP16"));
  EXPECT_EQ(ranking_of(damaged), expected);
}

TEST_F(NoGpu, ASampleIsTriedAndItSaysHowToTryAll) {
  const std::vector<std::string> space{"sweep",   "--seq", "128",     "--dhead", "128",
                                       "--dtype", "fp16",  "--space", "64,32"};
  const std::vector<std::string> few = extended(space, {"--max-configs", "3"});
  const ProcessResult table = fatune(few);
  expect_ok(table);
  EXPECT_THAT(table.out, AllOf(HasSubstr("3 of 3 verified"),
                               HasSubstr("5 of 8 configurations were not tried: ")));
  const ProcessResult result = fatune(extended(few, {"--format", "json"}));
  expect_schema(result.out, "results");
  const json sample = json::parse(result.out)["problems"][0];
  EXPECT_EQ(sample["ranking"].size(), 3U);
  EXPECT_EQ(sample["untried"], 5);
  const json all = fatune_json(extended(space, {"--search", "exhaustive", "--format", "json"}));
  EXPECT_EQ(all["problems"][0]["ranking"].size(), 8U);
  EXPECT_EQ(all["problems"][0]["untried"], 0);
}

TEST_F(NoGpu, OfALargeSpaceOnlyASampleIsTriedByDefault) {
  const std::string folder = toy_family_with("\n#error not today\n");  // which is quick to compile
  json family = json::parse(read("toy_attention/family.json"));
  json space = json::parse(read("toy_attention/spaces/toy.json"));
  json tags = json::array();
  for (int tag = 0; tag < 30; ++tag) {
    tags.push_back(tag);
  }
  family["parameters"].push_back(
      {{"name", "TAG"}, {"type", "int"}, {"values", tags}, {"doc", "means nothing"}});
  family["short_form"]["tuple"].push_back("TAG");
  space["configs"][0]["axes"]["TAG"] = tags;
  write("toy_attention/family.json", family.dump());
  write("toy_attention/spaces/toy.json", space.dump());
  const std::vector<std::string> sweep{"sweep",   "--kernel-dir", folder,    "--seq",    "64",
                                       "--dtype", "fp16",         "--no-db", "--format", "json"};
  const json sample = fatune_json(sweep, ExitCode::nothing_ranked)["problems"][0];
  EXPECT_EQ(sample["failures"].size(), 64U);
  EXPECT_EQ(sample["untried"], 26);
  const json all = fatune_json(extended(sweep, {"--search", "exhaustive"}),
                               ExitCode::nothing_ranked)["problems"][0];
  EXPECT_EQ(all["failures"].size(), 90U);
}

TEST_F(NoGpu, ABaselineCountsAsAHundredPercent) {
  const json report =
      fatune_json(extended(kSmallSweep, {"--format", "json", "--baseline", kConfig}));
  for (const json& entry : report["problems"][0]["ranking"]) {
    if (entry["config"] == kConfig) {
      EXPECT_DOUBLE_EQ(entry["relative_percent"], 100.0);
    }
  }
}

TEST_F(NoGpu, AProblemThatFitsNoSuchGpuIsRefusedWithTheFigures) {
  expect_error(
      fatune({"run", "--seq", "1000000", "--batch", "64", "--heads", "64", "--config", kConfig}),
      ExitCode::too_large, {"GiB"});
}

TEST_F(NoGpu, AFamilyOfTheUsersGoesAllTheWay) {
  const json report = fatune_json({"sweep", "--kernel-dir", kToyFolder, "--seq", "48", "--dtype",
                                   "fp16", "--dhead", "64", "--format", "json"});
  EXPECT_EQ(report["family"], "toy_attention");
  EXPECT_FALSE(report["problems"][0]["ranking"].empty());
  EXPECT_TRUE(report["problems"][0]["failures"].empty());
  EXPECT_EQ(report["problems"][0]["ranking"][0]["verified"], "emulated");
}

// --- The store ---

TEST_F(NoGpu, ShowPrintsAnEstimateAgainFromTheStoreAndFromItsFile) {
  for (const std::string format : {"table", "json", "csv", "md"}) {
    const ProcessResult printed =
        fatune(extended(kSmallSweep, {"--out", path("out"), "--format", format}));
    expect_ok(printed);
    for (const std::string& run : {std::string("last"), path("out/results.json")}) {
      if (format == "json" && run != "last") {
        continue;  // of a file's verifications only the tightest input is kept
      }
      EXPECT_EQ(fatune({"show", run, "--format", format}).out, printed.out) << run << format;
    }
  }
}

TEST_F(NoGpu, CommandsOnAStoredEstimateSayWhatItIs) {
  expect_ok(fatune(extended(kSmallSweep, {"--no-emulate", "--out", path("out"), "-q"})));
  const json history = fatune_json({"history", "--format", "json"});
  ASSERT_EQ(history["runs"].size(), 1U);
  EXPECT_EQ(history["runs"][0]["measured"], false);
  EXPECT_EQ(history["runs"][0]["best_tflops"], nullptr);
  EXPECT_THAT(fatune({"history"}).out, ContainsRegex("measured.*\n.* yes +no "));
  expect_ok(fatune({"report", "last", "--out", path("report.html")}));
  EXPECT_THAT(read("report.html"), HasSubstr("NOT MEASURED"));
  const ProcessResult compared = fatune({"compare", path("out/results.json"), "last"});
  EXPECT_EQ(compared.exit_code, static_cast<int>(ExitCode::undecided)) << compared.err;
  EXPECT_THAT(compared.out, HasSubstr("both times are of one run"));
  expect_error(fatune({"predict", "--run", "last", "--seq", "256"}), ExitCode::bad_file,
               {"estimate"});
}

TEST_F(NoGpu, AStoredEstimateIsNeverReused) {
  const std::vector<std::string> sweep =
      extended(kSmallSweep, {"--no-emulate", "--format", "json"});
  expect_ok(fatune(sweep));
  const json again = fatune_json(extended(sweep, {"--reuse"}));
  for (const json& entry : again["problems"][0]["ranking"]) {
    EXPECT_EQ(entry["reused"], false);
  }
  EXPECT_THAT(fatune(extended(sweep, {"--no-db"})).err, Not(HasSubstr("not stored")));
  EXPECT_EQ(fatune_json({"history", "--format", "json"})["runs"].size(), 2U);
}

TEST_F(NoGpu, AnEstimateThatCannotBeStoredIsPrintedWithAWarning) {
  write("no_database.db", "this text is long enough not to be taken for an empty database");
  const ProcessResult result =
      fatune(extended(kSmallSweep, {"--no-emulate", "--db", path("no_database.db")}));
  expect_ok(result);
  EXPECT_THAT(result.err, HasSubstr("results are not stored"));
}

TEST_F(NoGpu, FamiliesWithoutTheSpaceAreSaidToBeLeftOut) {
  const std::vector<std::string> sweep{
      "sweep",        "--space",  "all",    "--seq",         "128", "--device", "none",
      "--no-emulate", "--search", "random", "--max-configs", "1",   "--dtype",  "fp16"};
  const char* const note = "flash_sm90 is left out: it does not have the space";
  EXPECT_THAT(fatune(extended(sweep, {"--arch", "sm_90a"})).err, HasSubstr(note));
  EXPECT_THAT(fatune(extended(sweep, {"--arch", "sm_80"})).err, Not(HasSubstr(note)));
}

TEST_F(NoGpu, TypesThatNoConfigurationIsForAreSaidToBeLeftOut) {
  const ProcessResult result =
      fatune({"run", "--config", kConfig, "--seq", "128", "--dtype", "fp16,bf16", "--dhead",
              "128,64", "--device", "none", "--no-emulate"});
  expect_ok(result);
  EXPECT_THAT(result.err,
              HasSubstr("left out, because no configuration is for it: BF16, d_head 64"));
}

}  // namespace
}  // namespace fatune::testing_cli
