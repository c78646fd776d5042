// Tests several kernel families in one ranking, with the fake driver for the GPU's figures and a
// worker with scripted times.
#include <utility>

#include <fmt/format.h>

#include "cli/program.hpp"

namespace fatune::testing_cli {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

const std::string kHopperConfig =
    "(ws_pp, FP16, 128, 192, 64, 1, 12, 3): "
    "lazy+slots_1+cluster_1+persistent";

class Families : public ProgramTest {
 protected:
  Families() {
    use_fake_gpu();
    process_.environment["FATUNE_WORKER"] = FATUNE_FAKE_WORKER;
    times_are({{"(ws_pp", 90.0}, {"(ws,", 95.0}, {"(FP16", 100.0}});
  }

  void times_are(const json& us_by_label) {
    const json script{{"noise_percent", 0.2}, {"us", us_by_label}};
    process_.environment["FATUNE_FAKE_WORKER"] = script.dump();
  }
  void use_gpu_of(const char* capability) { process_.environment["FATUNE_FAKE_CC"] = capability; }

  static std::vector<std::string> with(std::vector<std::string> arguments,
                                       const std::vector<std::string>& more) {
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
  /// A sweep of eight configurations of flash_sm80 and two of flash_sm90.
  static std::vector<std::string> sweep_of(const std::vector<std::string>& more) {
    return with({"sweep", "--seq", "256", "--dhead", "128", "--dtype", "fp16", "--batch", "1",
                 "--heads", "1", "--space", "64,32+hopper_ci", "-q"},
                more);
  }
  /// The same family twice, under two names.
  [[nodiscard]] std::vector<std::string> twins() const {
    for (const char* name : {"toy_one", "toy_two"}) {
      std::filesystem::copy(kToyFolder, path(name), std::filesystem::copy_options::recursive);
      json family = json::parse(read(std::string(name) + "/family.json"));
      family["name"] = name;
      write(std::string(name) + "/family.json", family.dump());
      json space = json::parse(read(std::string(name) + "/spaces/toy.json"));
      space["family"] = name;
      write(std::string(name) + "/spaces/toy.json", space.dump());
    }
    return {"--kernel-dir", path("toy_one"), "--kernel-dir", path("toy_two")};
  }
};

std::vector<std::string> families_of(const json& entries) {
  std::vector<std::string> families;
  for (const json& entry : entries) {
    families.push_back(entry["family"]);
  }
  return families;
}

TEST_F(Families, AreRacedInOneRankingWhereTheDeviceRunsThem) {
  const ProcessResult result = fatune(sweep_of({"--format", "json"}));
  expect_ok(result);
  expect_schema(result.out, "results");
  const json report = json::parse(result.out);
  EXPECT_EQ(report["family"], "flash_sm80+flash_sm90");
  EXPECT_EQ(report["space"], "64,32+hopper_ci");
  const json& ranking = report["problems"][0]["ranking"];
  ASSERT_EQ(ranking.size(), 10U);
  EXPECT_THAT(std::string(ranking[0]["config"]), HasSubstr("(ws_pp, FP16, 128, 192, 64"));
  EXPECT_EQ(ranking[0]["family"], "flash_sm90");
  EXPECT_EQ(ranking[0]["parameters"]["NUM_MMA_GROUPS"], 3);
  const auto families = families_of(ranking);
  EXPECT_EQ(std::count(families.begin(), families.end(), "flash_sm80"), 8);
}

// The files of flash_decode and flash_decode_sm80 say for which problems they are meant.
TEST_F(Families, AreTriedOnTheProblemsThatTheyAreMeantFor) {
  const auto families_on = [&](const char* seq_len, const char* spaces) {
    return fatune_json({"sweep",   "--seq",   seq_len,   "--seq-kv",   "256",
                        "--dhead", "64",      "--dtype", "fp16",       "--batch",
                        "1",       "--heads", "4",       "--kv-heads", "1",
                        "--space", spaces,    "-q",      "--format",   "json"})["family"];
  };
  EXPECT_EQ(families_on("128", "64,32+hopper_ci+ci"),
            "flash_sm80+flash_decode+flash_decode_sm80+flash_sm90");
  EXPECT_EQ(families_on("129", "64,32+hopper_ci"), "flash_sm80+flash_sm90");
}

TEST_F(Families, HaveAColumnInTables) {
  const ProcessResult table = fatune(sweep_of({}));
  expect_ok(table);
  EXPECT_THAT(table.out,
              AllOf(HasSubstr("| flash_sm80+flash_sm90, space 64,32+hopper_ci"),
                    HasSubstr("family"), HasSubstr("flash_sm90  "), HasSubstr("flash_sm80  ")));
}

TEST_F(Families, HaveTheColumnsOfAllTheirParametersInCsv) {
  const ProcessResult csv = fatune(sweep_of({"--format", "csv"}));
  expect_ok(csv);
  EXPECT_THAT(csv.out, HasSubstr(",device,B_r,B_c,n_warps,"));
  EXPECT_THAT(csv.out, HasSubstr(",optimized_softmax,BLOCK_M,BLOCK_N,"));
  EXPECT_THAT(csv.out, HasSubstr(",,,,,,,,,,,192,64,1,12,3,ws_pp,"));
}

// This is one test, so that the kernels are compiled only once.
TEST_F(Families, ThatTheDeviceCannotRunAreLeftOutUnlessNamed) {
  use_gpu_of("8.0");
  const json report = fatune_json(sweep_of({"--format", "json"}));
  EXPECT_EQ(report["family"], "flash_sm80");
  EXPECT_EQ(report["space"], "64,32");
  EXPECT_EQ(report["problems"][0]["failures"].size(), 0U);
  EXPECT_THAT(families_of(report["problems"][0]["ranking"]), Each("flash_sm80"));

  auto all = sweep_of({"--family", "auto"});
  std::erase(all, "-q");
  const ProcessResult result = fatune(all);
  expect_ok(result);
  EXPECT_THAT(result.err, HasSubstr("flash_sm90 is left out: it needs sm_90a"));
  EXPECT_THAT(result.out,
              AllOf(HasSubstr("| flash_sm80, space 64,32\n"), Not(HasSubstr("  family  "))));

  const json named =
      fatune_json(sweep_of({"--family", "flash_sm80+flash_sm90", "--format", "json"}));
  const json& failures = named["problems"][0]["failures"];
  ASSERT_EQ(failures.size(), 2U);
  EXPECT_EQ(failures[0]["detail"], "flash_sm90 needs sm_90a, the device is sm_80");
}

TEST_F(Families, MeetOnTheProblemsOfAll) {
  const json report = fatune_json({"sweep", "--seq", "256", "--batch", "1", "--heads", "1",
                                   "--space", "64,32+hopper_ci", "-q", "--format", "json"});
  for (const json& problem : report["problems"]) {
    EXPECT_EQ(problem["problem"]["d_head"], 128) << problem["problem"];
  }
}

TEST_F(Families, WithTheSpaceAskedForAreRacedAlone) {
  const json report = fatune_json({"sweep", "--seq", "256", "--dhead", "128", "--dtype", "fp16",
                                   "--space", "hopper_ci", "-q", "--format", "json"});
  EXPECT_EQ(report["family"], "flash_sm90");
  EXPECT_THAT(fatune({"list", "--space", "hopper_ci"}).out, HasSubstr("hopper_ci of flash_sm90"));
}

TEST_F(Families, AreFoundByTheConfigurationsNamed) {
  const std::vector<std::string> both{"run",      "--seq",       "256",      "--batch",  "1",
                                      "--heads",  "1",           "-q",       "--config", kConfig,
                                      "--config", kHopperConfig, "--format", "json"};
  const json report = fatune_json(both);
  EXPECT_EQ(report["family"], "flash_sm80+flash_sm90");
  EXPECT_THAT(families_of(report["problems"][0]["ranking"]),
              ElementsAre("flash_sm90", "flash_sm80"));
  expect_ok(fatune({"compile", "--config", kHopperConfig}));
  expect_error(fatune({"compile", "--config", "(ws_pp, FP17, 128"}), ExitCode::usage,
               {"'FP17' is not a value of dtype"});
}

TEST_F(Families, AreEstimatedTogetherForAnArchitectureThatRunsThem) {
  process_.environment["FATUNE_LIBCUDA"] = "/nonexistent/libcuda.so.1";
  const auto estimate = [&](const std::vector<std::string>& arch) {
    return fatune_json(with(sweep_of({"--no-emulate", "--format", "json"}), arch));
  };
  for (const std::vector<std::string>& arch :
       {std::vector<std::string>{}, {"--arch", "sm_90"}, {"--arch", "sm_90a"}}) {
    const json report = estimate(arch);
    EXPECT_EQ(report["family"], "flash_sm80+flash_sm90");
    EXPECT_EQ(report["device"]["arch"], "sm_90a");
  }
  EXPECT_EQ(estimate({"--arch", "sm_120"})["family"], "flash_sm80");
}

TEST_F(Families, ThatNeedASuffixGiveItToTheArchitectureOnceAndSaySo) {
  process_.environment["FATUNE_LIBCUDA"] = "/nonexistent/libcuda.so.1";
  std::vector<std::string> sweep = sweep_of({"--no-emulate", "--arch", "sm_90"});
  std::erase(sweep, "-q");
  const std::vector<std::string> predict{"predict", "--seq", "4096", "--arch", "sm_90"};
  // The first family that needs it, of all and of those that are meant for the problem.
  for (const auto& [args, family] :
       {std::pair{predict, "flash_decode"}, std::pair{sweep, "flash_sm90"}}) {
    const std::string said = fmt::format("--arch sm_90 means sm_90a, which {} needs", family);
    const ProcessResult result = fatune(args);
    expect_ok(result);
    EXPECT_THAT(result.err, HasSubstr(said));
    EXPECT_EQ(result.err.find(said), result.err.rfind(said));
  }
  const ProcessResult alone =
      fatune({"compile", "--space", "prog", "--seq", "256", "--arch", "sm_90", "--format", "json"});
  expect_ok(alone);
  EXPECT_EQ(json::parse(alone.out)["device"]["arch"], "sm_90");
  EXPECT_EQ(alone.err.find("sm_90a"), std::string::npos);
}

TEST_F(Families, HaveOneDefaultArchitectureWithoutAGpu) {
  process_.environment["FATUNE_LIBCUDA"] = "/nonexistent/libcuda.so.1";
  for (const std::string& config : {kConfig, kHopperConfig}) {
    for (const std::vector<std::string>& command : {std::vector<std::string>{"run", "--no-emulate"},
                                                    {"compile"},
                                                    {"emulate"},
                                                    {"check", "--device", "none"}}) {
      const ProcessResult result = fatune(with(command, {"--config", config, "--seq", "64"}));
      expect_ok(result);
      EXPECT_THAT(result.out + result.err, HasSubstr("sm_90a")) << command.front() << config;
    }
  }
}

TEST_F(Families, AreInTheFileOfTheBestThatVerifyWinnerTakes) {
  expect_ok(fatune(sweep_of({"--best", path("best.json"), "--no-db"})));
  expect_schema(read("best.json"), "results");
  const std::vector<std::string> verify{
      "verify-winner", path("best.json"), "--no-db", "-q", "--format", "json"};
  EXPECT_EQ(fatune_json(verify)["gate"]["checks"][0]["verdict"], "equal");
  times_are({{"(ws", 100.0}, {"(FP16", 90.0}});
  const json beaten = fatune_json(verify, ExitCode::beaten)["gate"]["checks"][0];
  EXPECT_THAT(std::string(beaten["rival"]), HasSubstr("(FP16, 128, 64, 32"));
}

TEST_F(Families, AreKeptApartInTheStore) {
  const ProcessResult printed = fatune(sweep_of({"--format", "csv"}));
  expect_ok(printed);
  EXPECT_EQ(fatune({"show", "last", "--format", "csv"}).out, printed.out);
  const json again = fatune_json(sweep_of({"--reuse", "--format", "json"}));
  for (const json& entry : again["problems"][0]["ranking"]) {
    EXPECT_TRUE(entry["reused"]) << entry["config"];
  }
}

// sass_test.cpp tests `sass why` of such a run: it needs a disassembler.
TEST_F(Families, OfARunAreProfiledTogether) {
  expect_ok(fatune(sweep_of({})));
  const auto scripts = [&](const std::vector<std::string>& more) {
    return fatune(with({"profile", "--run", "last", "--top", "0", "--script", path("s")}, more))
        .out;
  };
  const std::string both = scripts({});
  EXPECT_THAT(both, AllOf(HasSubstr("nsys_flash_sm80_b1_s256_h1_d128_FP16.sh"),
                          HasSubstr("nsys_flash_sm90_b1_s256_h1_d128_FP16.sh"),
                          HasSubstr("FP16_10.sh"), Not(HasSubstr("FP16_11.sh"))));
  EXPECT_THAT(read("s/ncu_b1_s256_h1_d128_FP16_1.sh"), HasSubstr("--family flash_sm90 "));
  EXPECT_THAT(read("s/ncu_b1_s256_h1_d128_FP16_10.sh"), HasSubstr("--family flash_sm80 "));
  EXPECT_THAT(scripts({"--family", "flash_sm90"}),
              AllOf(HasSubstr("FP16_2.sh"), Not(HasSubstr("FP16_3.sh"))));
  expect_error(fatune({"profile", "--run", "last", "--kernel-dir", kToyFolder, "--family",
                       "toy_attention", "--script", path("s")}),
               ExitCode::usage, {"--run: the run is of family 'flash_sm80+flash_sm90'"});
}

TEST_F(Families, ThatNobodyCouldTellApartAreRefused) {
  expect_error(fatune(with({"sweep", "--seq", "256", "-q"}, twins())), ExitCode::usage,
               {"toy_one and toy_two both have a configuration", "choose one with --family"});
}

TEST_F(Families, ThatReadTheSameConfigurationAreRefused) {
  expect_error(fatune(with({"run", "--config", "(FP16, 128, 32): unroll_1"}, twins())),
               ExitCode::usage,
               {"is a configuration of several families", "--family: toy_one, toy_two"});
}

TEST_F(Families, WithoutTheSpaceAskedForAreAnError) {
  expect_error(fatune({"sweep", "--space", "64,32+hoper"}), ExitCode::usage,
               {"no family has a space 'hoper'", "hopper_ci", "of flash_sm90"});
  expect_error(fatune({"sweep", "--family", "flash_sm80+flash_sm90", "--space", "prog"}),
               ExitCode::usage, {"'prog' holds no space of flash_sm90"});
  expect_error(fatune({"sweep", "--family", "flash_sm80+"}), ExitCode::usage, {"flash_sm80"});
}

}  // namespace
}  // namespace fatune::testing_cli
